import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterproof.core.analysis import (
    Analysis,
    Chart,
    ChartKind,
    GateResult,
    Lack,
    Pair,
    PairField,
    Table,
)
from counterproof.core.errors import InputError
from counterproof.core.findings import Finding, HealthWarning, Interval, Verdict
from counterproof.core.outcomes import NotApplicable
from counterproof.report import analysis_from_json, findings_json, findings_schema
from tests.report.example import rewards_audit

TEXT = st.text(max_size=12)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
WHOLE = st.integers(0, 10**9)
CELL = st.one_of(TEXT, st.integers(), NUMBER, st.booleans(), st.none())
LOOSE = st.recursive(
    st.one_of(CELL, st.builds(NotApplicable, TEXT)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(TEXT.filter(lambda key: key != "not_applicable"), inner, max_size=3),
    ),
    max_leaves=6,
)


def several(entries: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(entries, max_size=3).map(tuple)


def mappings(entries: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(TEXT, entries, max_size=3)


INTERVALS = st.builds(Interval, NUMBER, NUMBER, NUMBER, TEXT, st.sampled_from(["two", "upper", "lower"]))
FINDINGS = st.builds(
    Finding,
    code=TEXT,
    subject=TEXT,
    title=TEXT,
    estimate=st.one_of(NUMBER, st.builds(NotApplicable, TEXT)),
    interval=st.none() | INTERVALS,
    method=TEXT,
    unit=TEXT,
    n=WHOLE,
    clusters=WHOLE,
    counts=mappings(WHOLE),
    values=st.dictionaries(TEXT.filter(lambda key: key != "not_applicable"), LOOSE, max_size=3),
    verdict=st.sampled_from(Verdict),
    proven=st.booleans(),
    label_free=st.booleans(),
    warnings=several(st.builds(HealthWarning, TEXT, TEXT, st.booleans())),
    evidence=several(TEXT),
)
ANALYSES = st.builds(
    Analysis,
    room=TEXT,
    title=TEXT,
    summary=several(TEXT),
    findings=several(FINDINGS),
    tables=several(st.builds(Table, TEXT, TEXT, several(TEXT), several(several(CELL)), TEXT, mappings(TEXT))),
    charts=several(
        st.builds(
            Chart,
            TEXT,
            TEXT,
            TEXT,
            st.sampled_from(ChartKind),
            several(st.dictionaries(TEXT.filter(lambda key: key != "not_applicable"), CELL, max_size=3)),
            TEXT,
            TEXT,
            several(st.tuples(TEXT, NUMBER)),
        )
    ),
    pairs=several(
        st.builds(
            Pair,
            TEXT,
            TEXT,
            several(st.builds(PairField, TEXT, TEXT, TEXT)),
            several(st.tuples(TEXT, NUMBER)),
            several(st.tuples(TEXT, NUMBER, NUMBER)),
        )
    ),
    lacks=several(st.builds(Lack, TEXT, TEXT, TEXT)),
    notes=several(TEXT),
    signature=TEXT,
    controls_hold=st.booleans(),
    controls_note=TEXT,
    gates=several(st.builds(GateResult, TEXT, st.booleans(), TEXT)),
    exit_code=st.integers(0, 3),
    provenance=several(st.tuples(TEXT, TEXT)),
)


@given(ANALYSES)
def test_round_trip_is_exact(analysis: Analysis) -> None:
    data = findings_json(analysis)
    assert analysis_from_json(data) == analysis
    assert findings_json(analysis_from_json(data)) == data


def test_bytes_do_not_depend_on_the_order_of_mappings() -> None:
    analysis = rewards_audit()
    first = analysis.findings[0]
    turned = replace(first, counts=dict(reversed(list(first.counts.items()))))
    other = replace(analysis, findings=(turned, *analysis.findings[1:]))
    assert findings_json(other) == findings_json(analysis)


def test_output_satisfies_the_published_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = findings_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    data = findings_json(rewards_audit())
    assert list(validator.iter_errors(json.loads(data))) == []
    assert data.endswith(b"}\n")
    broken = json.loads(data)
    broken["findings"][0]["estimate"] = None
    assert list(validator.iter_errors(broken))


def test_no_number_is_an_object_with_its_reason() -> None:
    plain = json.loads(findings_json(rewards_audit()))
    assert plain["findings"][4]["estimate"] == {"not_applicable": "no trajectory is in this stratum"}
    assert (plain["kind"], plain["schema"]) == ("counterproof.findings", 1)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1}, {1: 2}, {"not_applicable": "x"}])
def test_what_has_no_exact_form_is_refused_with_its_place(value: object) -> None:
    analysis = rewards_audit()
    bad = replace(analysis, findings=(replace(analysis.findings[0], values={"x": value}),))
    with pytest.raises(InputError, match=r"findings\[0\]\.values\.x"):
        findings_json(bad)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 2}, "schema version 2"),
        ({"schema": True}, "schema version True"),
        ({"kind": "other"}, "its kind is not"),
        ({"titel": "x"}, "did you mean 'title'"),
        ({"title": 3}, "title is 3, and str is expected"),
        ({"findings": {}}, "findings is"),
        ({"lacks": [{"field": "x"}]}, r"lacks\[0\]\.advice is missing"),
        ({"provenance": [["a"]]}, r"provenance\[0\] has 1 entries, not 2"),
        ({"exit_code": True}, "exit_code is True"),
    ],
)
def test_a_bad_file_is_refused_with_the_field(change: dict[str, Any], message: str) -> None:
    plain = json.loads(findings_json(rewards_audit())) | change
    with pytest.raises(InputError, match=message):
        analysis_from_json(json.dumps(plain).encode())


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff\xfe\xfa", b'{"schema": NaN}', b"[" * 100_000])
def test_what_is_no_findings_file_is_an_input_error(data: bytes) -> None:
    with pytest.raises(InputError, match=r"no findings\.json"):
        analysis_from_json(data)


def test_an_unknown_verdict_is_answered_with_the_choices() -> None:
    plain = json.loads(findings_json(rewards_audit()))
    plain["findings"][0]["verdict"] = "suported"
    with pytest.raises(InputError, match="did you mean 'supported'"):
        analysis_from_json(json.dumps(plain).encode())
