"""How well recall finds what labelled queries ask for, against other ways to search, in one run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import Row, table
from tests.quality.recall.corpus import Query, documents, labelled
from tests.quality.recall.evaluate import Search, judge, ours, packed, sides, with_vectors

_KINDS = ("literal", "code", "error", "ticket", "zh", "ja", "ko", "paraphrase")
_LITERAL = ("literal", "code", "error", "ticket")
_WIDE = ("zh", "ja", "ko")
_LEAST = 0.9
_PACKED = 32


def bench(_folder: Path, *, quick: bool) -> list[Row]:
    """Judge every side on both halves of the queries; the goals are for the half held out."""
    searches = sides(documents())
    if "rank-bm25" not in searches:
        print("rank-bm25 is not installed, so it is not among the sides.")
    reordered = with_vectors(documents())
    shown = searches | ({"ours, vectors": reordered} if reordered else {})
    queries = labelled()[1][:: 8 if quick else 1]
    for name, held_out in (("tuned on", False), ("held out", True)):
        half = [query for query in queries if query.held_out is held_out]
        print(f"\n{len(half)} queries {name}: recall@5 / MRR\n\n{_by_kind(shown, half)}")
    half = [query for query in queries if query.held_out]
    rows = [*_goals(searches["ours"], half), *_against(searches, half)]
    return rows if quick else [*rows, _passages(half)]


def _by_kind(searches: dict[str, Search], queries: Sequence[Query]) -> str:
    rows = []
    for name, search in searches.items():
        cells = [_shown(search, [each for each in queries if each.kind == kind]) for kind in _KINDS]
        rows.append([name, _shown(search, queries), *cells])
    return table(["search", "all", *_KINDS], rows)


def _shown(search: Search, queries: Sequence[Query]) -> str:
    score = judge(search, queries) if queries else None
    return f"{score.recall:.2f} / {score.mrr:.2f}" if score else ""


def _goals(search: Search, queries: Sequence[Query]) -> list[Row]:
    found = []
    for name, kinds in (("literal", _LITERAL), ("Chinese, Japanese, Korean", _WIDE)):
        score = judge(search, [query for query in queries if query.kind in kinds])
        row = Row(
            f"recall@5, {name}, held out",
            f"{score.recall:.2f}",
            "",
            shown_goal=f"≥ {_LEAST}",
            met=score.recall >= _LEAST,
        )
        found.append(row)
    return found


def _passages(queries: Sequence[Query]) -> Row:
    """Tell what it brings to rank passages instead of whole documents, where those are long."""
    texts, moved = packed(documents(), queries, _PACKED)
    cut, whole = judge(ours(texts), moved), judge(ours(texts, whole=True), moved)
    return Row(
        f"recall@5 / MRR, held out, {_PACKED} documents in one: passages against whole",
        f"{cut.recall:.2f} / {cut.mrr:.2f}",
        f"{whole.recall:.2f} / {whole.mrr:.2f}",
        whole.mrr / cut.mrr,
        shown_goal="< 1",
        met=whole.mrr < cut.mrr,
        note="the ratio is of the MRR",
    )


def _against(searches: dict[str, Search], queries: Sequence[Query]) -> list[Row]:
    our = judge(searches["ours"], queries)
    rows = []
    for name, search in searches.items():
        if name != "ours":
            theirs = judge(search, queries)
            rows.append(
                Row(
                    f"recall@5 / MRR, held out, against {name}",
                    f"{our.recall:.2f} / {our.mrr:.2f}",
                    f"{theirs.recall:.2f} / {theirs.mrr:.2f}",
                    theirs.recall / our.recall,
                    shown_goal="< 1",
                    met=theirs.recall < our.recall and theirs.mrr < our.mrr,
                )
            )
    return rows
