"""The mutants of a module: one small change of its syntax tree each."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

_SWAPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In},
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt},
    **{ast.Is: ast.IsNot, ast.IsNot: ast.Is},
}


@dataclass(frozen=True)
class Mutant:
    """A changed module. `name` says where and how without line numbers, so that it lasts."""

    name: str
    line: int
    tree: ast.Module


def mutants(source: str) -> Iterator[Mutant]:
    """Yield every mutant of a module.

    Changed are comparisons, `and`, `or`, `not`, whole numbers, truth values and conditions of `if`;
    left out are raises, and calls that stand alone.
    """
    tree = ast.parse(source)
    for name, place, node, other in _changes(tree):
        whole = copy.deepcopy(tree)
        changed = _Put(list(ast.walk(whole))[place], other).visit(whole)
        assert isinstance(changed, ast.Module)
        yield Mutant(name, getattr(node, "lineno", 0), ast.fix_missing_locations(changed))


def names(source: str) -> Iterator[str]:
    """Yield the name of every mutant of a module, without making any."""
    for name, *_ in _changes(ast.parse(source)):
        yield name


def _changes(tree: ast.Module) -> Iterator[tuple[str, int, ast.AST, ast.AST]]:
    """Yield each change: its name, and the node with its place in the tree and its replacement."""
    homes, seen = _homes(tree), Counter[str]()
    for place, node in enumerate(ast.walk(tree)):
        for other in _changed(node) if homes[node] is not None else ():
            left, right = (_line(each) for each in (node, other))
            name = f"{homes[node]}: {left} -> {right}"
            seen[name] += 1
            number = f" ({seen[name]})" if seen[name] > 1 else ""
            yield name + number, place, node, other


def _line(node: ast.AST) -> str:
    return ast.unparse(node).splitlines()[0][:90]


def _homes(tree: ast.AST, where: str | None = "") -> dict[ast.AST, str | None]:
    """Return the function or class that each node stands in; None within a decorator."""
    found = {tree: where}
    for child in ast.iter_child_nodes(tree):
        inner = where
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            inner = f"{where}.{child.name}".lstrip(".")
        if child in getattr(tree, "decorator_list", ()):
            inner = None
        found |= _homes(child, inner)
    return found


def _changed(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _SWAPPED:
            yield ast.Compare(left, [_SWAPPED[type(op)]()], [right])
        case ast.BoolOp(op=op, values=values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield ast.Call(ast.Name("bool", ast.Load()), [operand], [])
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.If(body=body, orelse=orelse):
            yield ast.If(ast.Constant(True), body, orelse)
            yield ast.If(ast.Constant(False), body, orelse)
        case ast.Raise() | ast.Expr(value=ast.Call()):
            yield ast.Pass()


class _Put(ast.NodeTransformer):
    def __init__(self, target: ast.AST, other: ast.AST) -> None:
        self._target = target
        self._other = other

    def visit(self, node: ast.AST) -> ast.AST:
        """Put the other node in the place of the target."""
        return self._other if node is self._target else super().visit(node)
