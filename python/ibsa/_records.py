# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Classes of records from the tables of the library, and replies with them."""

import ctypes
import errno
import ipaddress
from typing import (Any, Callable, Dict, Generic, Iterator, List, Mapping,
                    Sequence, Tuple, Type, TypeVar, Union, overload)

from ._native import Gid, c_text, lib
from ._selector import (NO_NUMBERS, SHOW_BLOB, SHOW_GID, SHOW_TEXT, select,
                        value_parse)
from .constants import Method
from .errors import Error, check

Value = Union[int, str, bytes, ipaddress.IPv6Address]

_VALUE_TEXT = 512

_Text = ctypes.c_char * _VALUE_TEXT
# The class of the records in the replies to a query of a record.
R = TypeVar("R", bound="Record[Any]")
S = TypeVar("S", bound="Record[Any]")


def gid_text(gid: Gid) -> str:
    """A GID as an IPv6 address."""
    text = _Text()
    check(lib.ibsa_gid_format(gid, text, _VALUE_TEXT))
    return text.value.decode()


def gid_parse(value: Union[str, bytes, ipaddress.IPv6Address]) -> Gid:
    """The GID of a text, of 16 bytes or of an IPv6 address."""
    gid = Gid()
    if isinstance(value, bytes):
        value = ipaddress.IPv6Address(value)
    err = lib.ibsa_gid_parse(c_text(str(value), "GID"), gid)
    check(err, f"'{value}' is not a GID, which has the form of an IPv6 address")
    return gid


def _value_text(name: str, show: int, value: Value) -> str:
    """A value as ibsa_field_parse() reads it."""
    if isinstance(value, bytes):
        if show == SHOW_GID:
            return str(ipaddress.IPv6Address(value))
        if show == SHOW_TEXT:
            return "".join(f"\\x{byte:02x}" for byte in value)
        if show == SHOW_BLOB:
            return value.hex()
        raise TypeError(f"{name}: a number, not bytes")
    if not isinstance(value, (int, str, ipaddress.IPv6Address)):
        raise TypeError(f"{name}: a number or a text, not {value!r}")
    return str(int(value) if isinstance(value, int) else value)


def _selector_text(table: Any, name: str, value: Value) -> str:
    """A value or a comparison as text."""
    if set(name) & set("=<>"):
        raise Error(-errno.EINVAL, f"'{name}' is not a field: write the "
                    "comparison before the value, such as mtu='>2048'")
    field = lib.ibsa_field_find(table, c_text(name, "name"), ctypes.c_uint())
    return _value_text(name, field.contents.show if field else 0, value)


class Record(Generic[R]):
    """One record of the SA, with an attribute for each of its fields.

    Numbers and codes are int, GIDs and text are str, other bytes are bytes, and
    arrays are tuples of these. In text, bytes that are not printable are
    written as \\xNN. The arguments are the values of the fields; the name of a
    value of an array ends in its number, from 1.
    """

    __slots__ = ("_host",)
    _table: Any = None
    _host_type: Any = None
    fields: Tuple[str, ...] = ()
    name: str = ""
    short_name: str = ""

    def __init__(self, **values: Value) -> None:
        self._host = self._host_type()
        for name, value in values.items():
            self._set(name, value)

    def _set(self, name: str, value: Value) -> None:
        index = ctypes.c_uint()
        field = lib.ibsa_field_find(self._table, c_text(name, "name"), index)
        if not field:
            raise AttributeError(f"{self.name} has no field '{name}'")
        text = _value_text(name, field.contents.show, value)
        if isinstance(value, int) and value >= 0 and \
                field.contents.show not in NO_NUMBERS:
            err = lib.ibsa_field_set(field, index, value, self._host) \
                if value < 1 << 64 else -errno.ERANGE
            check(err, f"{name}: '{text}' does not fit the field")
        else:
            value_parse(field, index, name, text, self._host)

    @classmethod
    def _decode(cls, wire: bytes) -> "Record[R]":
        record = cls.__new__(cls)
        record._host = cls._host_type()
        check(lib.ibsa_record_decode(cls._table, wire, len(wire), record._host,
                                     ctypes.sizeof(record._host)))
        return record

    @classmethod
    def _copy(cls, address: int) -> "Record[R]":
        """The record of a struct of the library."""
        record = cls.__new__(cls)
        record._host = cls._host_type.from_buffer_copy(
            ctypes.string_at(address, cls._table.contents.host_size))
        return record

    @classmethod
    def _match(cls, values: Mapping[str, Value]) -> Tuple[Any, int]:
        """The struct and the component mask of a query's selectors."""
        host = cls._host_type()
        mask = 0
        for name, value in values.items():
            mask = select(cls._table, name,
                          _selector_text(cls._table, name, value), host, mask)
        return host, mask

    def text(self, field: str) -> str:
        """A field as the command ibsa prints it: codes as their meaning."""
        index = ctypes.c_uint()
        found = lib.ibsa_field_find(self._table, c_text(field, "name"), index)
        if not found:
            raise AttributeError(f"{self.name} has no field '{field}'")
        return _format(found, index.value, self._host)

    def as_dict(self) -> Dict[str, Any]:
        """The values of all fields by their names."""
        return {name: getattr(self, name) for name in self.fields}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record) or type(other) is not type(self):
            return NotImplemented
        return bytes(self._host) == bytes(other._host)

    def __hash__(self) -> int:
        return hash((self.name, bytes(self._host)))

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}"
                           for name, value in self.as_dict().items() if value)
        return f"{type(self).__name__}({values})"

    def __reduce__(self):  # type: ignore[no-untyped-def]
        return _unpickle, (self.name, bytes(self._host))


def _unpickle(name: str, host: bytes) -> Record[Any]:
    record = record_class(name)()
    ctypes.memmove(record._host, host, len(host))
    return record


def _format(field: Any, index: int, host: Any) -> str:
    text = _Text()
    check(lib.ibsa_field_format(field, index, host, text, _VALUE_TEXT))
    return text.value.decode("utf-8", "backslashreplace")


def _reader(field: Any, values: int) -> Callable[[Record[Any]], Any]:
    """The function that reads one field."""
    show = field.contents.show
    read: Callable[[Any, int, Any], Any] = lib.ibsa_field_get
    if show in (SHOW_GID, SHOW_TEXT):
        read = _format
    elif show == SHOW_BLOB:
        read = lambda *one: bytes.fromhex(_format(*one))  # noqa: E731
    if values == 1:
        return lambda record: read(field, 0, record._host)
    return lambda record: tuple(read(field, index, record._host)
                                for index in range(values))


def _record_class(table: Any) -> Type[Record[Any]]:
    record = table.contents
    name = record.name.decode()
    members: Dict[str, Any] = {
        "__slots__": (), "__doc__": f"{name} of the SA.", "_table": table,
        "__module__": __name__,
        "_host_type": ctypes.c_uint64 * ((record.host_size + 7) // 8),
        "name": name, "short_name": record.short_name.decode()}
    names = []
    for at in range(record.field_count):
        field = ctypes.pointer(record.fields[at])
        names.append(field.contents.name.decode())
        values = lib.ibsa_field_values(field)
        members[names[-1]] = property(_reader(field, values))
    members["fields"] = tuple(names)
    return type(name, (Record,), members)


def _tables() -> Iterator[Any]:
    index = 0
    while True:
        table = lib.ibsa_record_at(index)
        if not table:
            return
        yield table
        index += 1


records: Tuple[Type[Record[Any]], ...] = tuple(map(_record_class, _tables()))
_by_address = {ctypes.addressof(one._table.contents): one for one in records}
_by_name: Dict[str, Type[Record[Any]]] = {}
for _one in records:
    _by_name[_one.name.lower()] = _by_name[_one.short_name.lower()] = _one


def record_class(record: Union[str, Type[Record[Any]]]) -> Type[Record[Any]]:
    """The class of a record by its name, such as "PathRecord" or "PR"."""
    if isinstance(record, type) and issubclass(record, Record):
        return record
    found = _by_name.get(str(record).lower())
    if found is None:
        raise Error(-errno.EINVAL, f"there is no record '{record}'; the "
                    "records are " + ", ".join(one.name for one in records))
    return found


def record_class_at(table: Any) -> Type[Record[Any]]:
    """The class of a record by its table in the library."""
    return _by_address[ctypes.addressof(table.contents)]


def reply_class(record: Type[Record[Any]]) -> Type[Record[Any]]:
    """The class of the records in replies."""
    return record_class_at(record._table.contents.reply)


class Reply(Sequence[S]):
    """The records of a reply, decoded when they are read.

    status: the MAD status. It is 0, or means that there is no matching record
    tries:  the number of tries that were sent
    rtt_ns: nanoseconds from the last try to the reply
    """

    __slots__ = ("record", "status", "tries", "rtt_ns", "_data", "_stride",
                 "_count")

    def __init__(self, record: Type[Record[Any]], data: bytes, stride: int,
                 count: int, status: int, tries: int, rtt_ns: int) -> None:
        self.record = record
        self.status = status
        self.tries = tries
        self.rtt_ns = rtt_ns
        self._data = data
        self._stride = stride
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> S: ...

    @overload
    def __getitem__(self, index: slice) -> List[S]: ...

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(self._count))]
        at = index + self._count if index < 0 else index
        if not 0 <= at < self._count:
            raise IndexError(f"the reply has {self._count} records")
        start = at * self._stride
        return self.record._decode(self._data[start:start + self._stride])

    def __repr__(self) -> str:
        return f"<{self._count} {self.record.name}>"


def default_method(record: Type[Record[Any]]) -> Method:
    """The method by which one call reads all matching records."""
    table = record._table.contents
    if reply_class(record) is not record:
        return Method.GET_MULTI
    return Method.GET_TABLE if table.mask else Method.GET


def one_record(reply: Reply[S]) -> S:
    """The only record of a reply."""
    record = reply.record
    if len(reply) == 1:
        return reply[0]
    if not reply:
        raise Error(-errno.ENOENT, f"the SA has no matching {record.name}",
                    reply.status)
    raise Error(-errno.ENOTUNIQ, f"{len(reply)} {record.name}s match, not one")
