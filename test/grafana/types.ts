// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The types of a dashboard in JSON, from those of @grafana/schema. JSON has the values
// of enumerations, not their names.
import type { Dashboard, Panel, RowPanel } from '@grafana/schema';
import type * as stat from '@grafana/schema/dist/types/raw/composable/stat/panelcfg/x/types.gen';
import type * as table from '@grafana/schema/dist/types/raw/composable/table/panelcfg/x/types.gen';
import type * as timeseries from '@grafana/schema/dist/types/raw/composable/timeseries/panelcfg/x/types.gen';

type Json<T> = unknown extends T ? T
	: T extends string ? `${T}`
	: T extends number ? (number extends T ? T : `${T}` extends `${infer N extends number}` ? N : T)
	: T extends boolean | null | undefined ? T
	: T extends Array<infer E> ? Array<Json<E>>
	: T extends object ? { [K in keyof T]: Json<T[K]> }
	: T;

type Of<Kind extends string, Options, Custom> =
	Json<Omit<Panel, 'type' | 'options' | 'fieldConfig'>> & {
		type: Kind;
		options: Json<Options>;
		fieldConfig: {
			defaults: Json<Omit<NonNullable<Panel['fieldConfig']>['defaults'], 'custom'>> & { custom?: Json<Partial<Custom>> };
			overrides: Json<NonNullable<Panel['fieldConfig']>['overrides']>;
		};
	};

type Typed = Json<Omit<Dashboard, 'panels'>> & {
	panels: Array<
		| Of<'stat', stat.Options, {}>
		| Of<'table', table.Options, table.FieldConfig>
		| Of<'timeseries', timeseries.Options, timeseries.FieldConfig>
		| (Json<Omit<RowPanel, 'type'>> & { type: 'row' })
	>;
};

