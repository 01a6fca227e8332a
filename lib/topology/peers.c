/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds what a few of many similar things lack. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "topology/peers.h"

/* The things that have the same traits. */
struct peer_set {
	const struct peer *first;
	uint32_t count;
	uint32_t model; /* the set that the things of this one should be like */
	uint32_t peers; /* things of all sets whose model this one is */
	uint32_t have[PEER_TRAITS]; /* of those, how many have each trait */
};

struct comparison {
	struct peer_set *sets;
	uint32_t count;
	/* For each mark, the set of most things that has it. */
	uint32_t *best;
};

static int traits_compare(const void *a, const void *b)
{
	const struct peer *x = a;
	const struct peer *y = b;

	for (uint32_t i = 0; i < x->count && i < y->count; i++) {
		if (x->traits[i].id != y->traits[i].id)
			return x->traits[i].id < y->traits[i].id ? -1 : 1;
	}
	return (x->count > y->count) - (x->count < y->count);
}

/* Put things with the same traits into one set. */
static void sets_make(struct comparison *all, struct peer *peers,
		      uint32_t count)
{
	struct peer_set *set = NULL;

	qsort(peers, count, sizeof(*peers), traits_compare);
	for (uint32_t i = 0; i < count; i++) {
		if (!set || traits_compare(set->first, &peers[i])) {
			set = &all->sets[all->count];
			set->first = &peers[i];
			set->model = all->count++;
		}
		set->count++;
	}
}

static void best_find(struct comparison *all)
{
	for (uint32_t i = 0; i < all->count; i++) {
		const struct peer *peer = all->sets[i].first;

		for (uint32_t k = 0; k < peer->count; k++) {
			uint32_t *best = &all->best[peer->traits[k].mark];

			if (*best == UINT32_MAX ||
			    all->sets[*best].count < all->sets[i].count)
				*best = i;
		}
	}
}

static bool has_mark(const struct peer *peer, uint32_t mark)
{
	for (uint32_t i = 0; i < peer->count; i++) {
		if (peer->traits[i].mark == mark)
			return true;
	}
	return false;
}

static bool has_trait(const struct peer *peer, uint64_t id)
{
	for (uint32_t i = 0; i < peer->count; i++) {
		if (peer->traits[i].id == id)
			return true;
	}
	return false;
}

/* Return: how many traits of @peer have a mark that @other has. */
static uint32_t marks_shared(const struct peer *peer, const struct peer *other)
{
	uint32_t shared = 0;

	for (uint32_t i = 0; i < peer->count; i++)
		shared += has_mark(other, peer->traits[i].mark);
	return shared;
}

/* Return: for how many marks of @peer the set @model is the best. */
static uint32_t votes_for(const struct comparison *all, const struct peer *peer,
			  uint32_t model)
{
	uint32_t votes = 0;

	for (uint32_t i = 0; i < peer->count; i++)
		votes += all->best[peer->traits[i].mark] == model;
	return votes;
}

/*
 * Choose the model of a set: the set that is the best for most of its marks, if
 * they share more than half of the model's marks.
 */
static void model_choose(const struct comparison *all, struct peer_set *set)
{
	const struct peer *peer = set->first;
	uint32_t most = 0;
	uint32_t model = set->model;

	for (uint32_t i = 0; i < peer->count; i++) {
		const uint32_t best = all->best[peer->traits[i].mark];
		const uint32_t votes = votes_for(all, peer, best);

		if (votes > most) {
			most = votes;
			model = best;
		}
	}
	if (2 * marks_shared(all->sets[model].first, peer) >
	    all->sets[model].first->count)
		set->model = model;
}

static void peers_count(struct comparison *all, const struct peer_set *set)
{
	struct peer_set *model = &all->sets[set->model];

	model->peers += set->count;
	for (uint32_t i = 0; i < model->first->count; i++) {
		if (has_trait(set->first, model->first->traits[i].id))
			model->have[i] += set->count;
	}
}

static bool is_expected(const struct peer_set *model, uint32_t trait)
{
	const uint32_t have = model->have[trait];

	return have >= 3 && model->peers - have <= 1 + model->peers / 8;
}

static int set_report(const struct peer_set *set, const struct peer_set *model,
		      uint32_t trait, peer_lack_fn fn, void *arg)
{
	struct peer_lack lack = {
		.other = model->first,
		.trait = &model->first->traits[trait],
		.have = model->have[trait],
		.peers = model->peers,
	};
	int err = 0;

	for (uint32_t i = 0; i < set->count && !err; i++) {
		lack.peer = &set->first[i];
		err = fn(&lack, arg);
	}
	return err;
}

static int lacks_report(const struct comparison *all, peer_lack_fn fn,
			void *arg)
{
	int err = 0;

	for (uint32_t i = 0; i < all->count; i++) {
		const struct peer_set *set = &all->sets[i];
		const struct peer_set *model = &all->sets[set->model];

		for (uint32_t k = 0; k < model->first->count && !err; k++) {
			if (is_expected(model, k) &&
			    !has_trait(set->first, model->first->traits[k].id))
				err = set_report(set, model, k, fn, arg);
		}
	}
	return err;
}

int ibsa__peers_compare(struct peer *peers, uint32_t count, uint32_t marks,
			peer_lack_fn lack, void *arg)
{
	struct comparison all = {
		.sets = ibsa__calloc(count + 1u, sizeof(*all.sets)),
		.best = ibsa__calloc(marks + 1u, sizeof(*all.best)),
	};
	int err = all.sets && all.best ? 0 : -ENOMEM;

	if (!err) {
		for (uint32_t i = 0; i < marks; i++)
			all.best[i] = UINT32_MAX;
		sets_make(&all, peers, count);
		best_find(&all);
		for (uint32_t i = 0; i < all.count; i++)
			model_choose(&all, &all.sets[i]);
		for (uint32_t i = 0; i < all.count; i++)
			peers_count(&all, &all.sets[i]);
		err = lacks_report(&all, lack, arg);
	}
	ibsa__free(all.sets);
	ibsa__free(all.best);
	return err;
}
