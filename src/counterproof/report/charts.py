"""Charts as Vega-Lite: structure drawn in the text's own colour, so that one plot serves light and dark pages."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from counterproof.core.analysis import Cell, Chart, ChartKind
from counterproof.report.inert import one_line
from counterproof.report.numbers import cell, is_share

if TYPE_CHECKING:
    import altair as alt

PALETTE = ("#2a7fbf", "#d55e00", "#009e73", "#c0619c", "#a67c00", "#7a6fd0")
"""After Okabe and Ito, at a lightness that reads on white and on near-black; series also differ in shape or dash."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3), (4, 4), (1, 3))
WIDTH = 640
FIELDS: Mapping[ChartKind, tuple[str, ...]] = {
    ChartKind.INTERVALS: ("label", "series", "estimate", "lower", "upper"),
    ChartKind.BARS: ("label", "series", "value"),
    ChartKind.LINES: ("series", "x", "y", "lower", "upper"),
    ChartKind.HEAT: ("y", "x", "value"),
    ChartKind.STEPS: ("series", "x", "y"),
    ChartKind.TREE: ("label", "kind", "edge", "x", "y", "x_from", "y_from"),
}
"""The fields of a row by kind, in the order in which a table shows them."""
_INK = "currentColor"
_ID = re.compile(r"""(\bid="|url\(#)((?:gradient_|clip)\d+)""")
_LONGEST_LABEL = 160


def vega_lite(chart: Chart) -> dict[str, Any]:
    """Return a chart as a Vega-Lite specification with its data inside and a transparent background.

    Rows without a number are left out, except in INTERVALS, where the label stays with the words "no number". Shares
    are written in percent. Bars start at zero, and so do shares; other axes follow the data.
    """
    drawn = _BUILDERS[chart.kind](chart, _rows(chart)).properties(
        title=one_line(chart.title, _LONGEST_LABEL), width=WIDTH, background="transparent"
    )
    spec: dict[str, Any] = drawn.configure(**_config()).to_dict()
    spec.pop("$schema", None)  # names a web address, and nothing here may look like a request
    return spec


def svg(chart: Chart, prefix: str = "plot") -> str:
    """Return a chart as SVG text without script, for where JavaScript is off.

    The renderer numbers ids on from one picture to the next; here they start anew behind `prefix`, which must be unique
    in a page, so that equal charts give equal text.
    """
    import vl_convert

    drawn = vl_convert.vegalite_to_svg(vega_lite(chart), allowed_base_urls=[])
    names: dict[str, str] = {}
    return _ID.sub(lambda match: match[1] + names.setdefault(match[2], f"{prefix}-{len(names)}"), drawn)


@cache
def bundle() -> str:
    """Return the JavaScript of Vega, Vega-Lite and Vega-Embed as one script of about 0.9 MB that loads nothing else."""
    import vl_convert

    return vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub overlooks the default


def data_table(chart: Chart) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return a chart's data as headings and rows of text, in the order of `FIELDS`; absent fields are left out."""
    names = _present(chart)
    rows = tuple(tuple(cell(row.get(name), _number_spec(chart, name)) for name in names) for row in chart.rows)
    axes = {"x": chart.x_title, "y": chart.y_title}
    if chart.kind in (ChartKind.INTERVALS, ChartKind.BARS):
        axes = {"label": chart.y_title, "estimate": chart.x_title, "value": chart.x_title}
    return tuple(axes.get(name) or name for name in names), rows


def numeric_columns(chart: Chart) -> tuple[bool, ...]:
    """Return for each heading of `data_table` whether its column holds numbers."""
    return tuple(
        all(_is_number(row.get(name)) or row.get(name) is None for row in chart.rows) for name in _present(chart)
    )


def _present(chart: Chart) -> list[str]:
    return [name for name in FIELDS[chart.kind] if any(name in row for row in chart.rows)]


def _is_number(value: Cell) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _number_spec(chart: Chart, name: str) -> str:
    on_y = name in ("y", "lower", "upper", "value") and chart.kind is not ChartKind.INTERVALS
    vertical = chart.kind in (ChartKind.LINES, ChartKind.STEPS) and on_y
    horizontal = name in ("estimate", "lower", "upper", "value") and chart.kind in (ChartKind.INTERVALS, ChartKind.BARS)
    if vertical and _percent(chart, chart.y_title, ("y", "lower", "upper")):
        return ".1%"
    if horizontal and _percent(chart, chart.x_title, ("estimate", "lower", "upper", "value")):
        return ".1%"
    if chart.kind is ChartKind.HEAT and name == "value" and _percent(chart, chart.title, ("value",)):
        return ".1%"
    if chart.kind in (ChartKind.LINES, ChartKind.STEPS) and name == "x" and _percent(chart, chart.x_title, ("x",)):
        return ".1%"
    return ""


def _percent(chart: Chart, title: str, names: tuple[str, ...]) -> bool:
    """Return whether an axis is written in percent: its title names a share and no value leaves [-1, 1]."""
    values = [row.get(name) for row in chart.rows for name in names]
    return is_share(title) and all(abs(float(value)) <= 1 for value in values if isinstance(value, (int, float)))


def _rows(chart: Chart) -> list[dict[str, Cell]]:
    """Return the rows with text made inert and every field that a kind may miss filled in."""
    texts = {"label", "series", "kind", "edge"} | ({"x", "y"} if chart.kind is ChartKind.HEAT else set())
    rows: list[dict[str, Cell]] = []
    for row in chart.rows:
        made: dict[str, Cell] = {}
        for name in FIELDS[chart.kind]:
            value = row.get(name, "" if name in ("series", "edge") else None)
            made[name] = one_line(cell(value), _LONGEST_LABEL) if name in texts else value
        rows.append(made)
    return rows


def _in_order(rows: list[dict[str, Cell]], name: str) -> list[str]:
    return list(dict.fromkeys(str(row[name]) for row in rows))


def _axis(chart: Chart, title: str, names: tuple[str, ...]) -> alt.Axis:
    import altair as alt

    text = one_line(title, _LONGEST_LABEL)
    return alt.Axis(title=text, tickCount=7, format="~%" if _percent(chart, title, names) else alt.Undefined)


def _series(rows: list[dict[str, Cell]]) -> list[str]:
    found = _in_order(rows, "series")
    return found if len(found) > 1 else []


def _shared(rows: list[dict[str, Cell]]) -> bool:
    """Return whether some label has rows of several series, which then need lines of their own."""
    return len({row["label"] for row in rows}) < len({(row["label"], row["series"]) for row in rows})


def _color(rows: list[dict[str, Cell]]) -> dict[str, Any]:
    import altair as alt

    names = _series(rows)
    if not names:
        return {"color": alt.value(PALETTE[0])}
    colors = [PALETTE[i % len(PALETTE)] for i in range(len(names))]
    return {"color": alt.Color("series:N", sort=names, scale=alt.Scale(domain=names, range=colors), title=None)}


def _values(rows: list[Any]) -> alt.InlineData:
    import altair as alt

    return alt.InlineData(values=rows)


def _intervals(chart: Chart, rows: list[dict[str, Cell]]) -> Any:
    import altair as alt

    names, labels = _series(rows), _in_order(rows, "label")
    known = [row for row in rows if row["estimate"] is not None]
    numbers = ("estimate", "lower", "upper")
    y: dict[str, Any] = {"y": alt.Y("label:N", sort=labels, title=one_line(chart.y_title) or None, scale=_all(labels))}
    if _shared(rows):
        y["yOffset"] = alt.YOffset("series:N", sort=names, scale=alt.Scale(domain=names, paddingOuter=0.6))
    scale = alt.Scale(zero=_percent(chart, chart.x_title, numbers), nice=True)
    x = alt.X("estimate:Q", axis=_axis(chart, chart.x_title, numbers), scale=scale)
    base = alt.Chart(_values(known)).encode(**y, **_color(rows), tooltip=["label:N", *(f"{n}:Q" for n in numbers)])
    ends = [row for row in known if row["lower"] is not None and row["upper"] is not None]
    bars = base.properties(data=_values(ends)).mark_rule(strokeWidth=2.5, opacity=0.75)
    shape = {"shape": alt.Shape("series:N", sort=names, scale=_shapes(names), title=None)} if names else {}
    layers: list[Any] = [
        bars.encode(x=alt.X("lower:Q"), x2=alt.X2("upper:Q")),
        base.mark_point(size=80, filled=True, opacity=1).encode(x=x, **shape),
        *_marks(chart),
    ]
    unknown = [row for row in rows if row["estimate"] is None]
    if unknown:
        words = alt.Chart(_values(unknown)).mark_text(text="no number", align="left", dx=6, color=_INK, opacity=0.65)
        layers.append(words.encode(**y, x=alt.value(0)))
    return alt.layer(*layers).properties(height=max(60, len(labels) * max(30, _shared(rows) * (16 * len(names) + 14))))


def _bars(chart: Chart, rows: list[dict[str, Cell]]) -> Any:
    import altair as alt

    names, labels = _series(rows), _in_order(rows, "label")
    known = [row for row in rows if row["value"] is not None]
    y: dict[str, Any] = {"y": alt.Y("label:N", sort=labels, title=one_line(chart.y_title) or None, scale=_all(labels))}
    if _shared(rows):
        y["yOffset"] = alt.YOffset("series:N", sort=names, scale=alt.Scale(domain=names))
    x = alt.X("value:Q", axis=_axis(chart, chart.x_title, ("value",)), scale=alt.Scale(zero=True))
    bars = alt.Chart(_values(known)).mark_bar(cornerRadiusEnd=2, opacity=0.9)
    drawn = bars.encode(x=x, **y, **_color(rows), tooltip=["label:N", "series:N", "value:Q"])
    height = max(60, len(labels) * max(26, _shared(rows) * (16 * len(names) + 10)))
    return alt.layer(drawn, *_marks(chart)).properties(height=height)


def _lines(chart: Chart, rows: list[dict[str, Cell]]) -> Any:
    import altair as alt

    names = _series(rows)
    numbers = ("y", "lower", "upper")
    known = [row for row in rows if row["x"] is not None and row["y"] is not None]
    x = alt.X("x:Q", axis=_axis(chart, chart.x_title, ("x",)), scale=alt.Scale(zero=False, nice=False))
    scale = alt.Scale(zero=_percent(chart, chart.y_title, numbers))
    y = alt.Y("y:Q", axis=_axis(chart, chart.y_title, numbers), scale=scale)
    base = alt.Chart(_values(known)).encode(x=x, **_color(rows))
    dash = {"strokeDash": alt.StrokeDash("series:N", sort=names, scale=_dashes(names), title=None)} if names else {}
    layers: list[Any] = []
    banded = [row for row in known if row["lower"] is not None and row["upper"] is not None]
    if banded:
        band = base.properties(data=_values(banded)).mark_area(opacity=0.18)
        layers.append(band.encode(y=alt.Y("lower:Q"), y2=alt.Y2("upper:Q")))
    layers.append(base.mark_line(strokeWidth=2.5).encode(y=y, **dash))
    layers.append(base.mark_point(size=36, filled=True, opacity=1).encode(y=y, tooltip=["series:N", "x:Q", "y:Q"]))
    return alt.layer(*layers, *_marks(chart)).properties(height=280)


def _steps(chart: Chart, rows: list[dict[str, Cell]]) -> Any:
    import altair as alt

    names = _series(rows)
    known = [row for row in rows if row["x"] is not None and row["y"] is not None]
    share = _percent(chart, chart.y_title, ("y",))
    x = alt.X("x:Q", axis=_axis(chart, chart.x_title, ("x",)), scale=alt.Scale(zero=False))
    y = alt.Y("y:Q", axis=_axis(chart, chart.y_title, ("y",)), scale=alt.Scale(zero=share))
    dash = {"strokeDash": alt.StrokeDash("series:N", sort=names, scale=_dashes(names), title=None)} if names else {}
    line = alt.Chart(_values(known)).mark_line(interpolate="step-after", strokeWidth=2.5)
    drawn = line.encode(x=x, y=y, **_color(rows), **dash, tooltip=["series:N", "x:Q", "y:Q"])
    return alt.layer(drawn, *_marks(chart)).properties(height=280)


def _heat(chart: Chart, rows: list[dict[str, Cell]]) -> Any:
    import altair as alt

    known = [row for row in rows if row["value"] is not None]
    share = _percent(chart, chart.title, ("value",))
    values = [float(row["value"]) for row in known if isinstance(row["value"], (int, float))]
    low, high = min([0.0, *values]), max([0.0, *values]) or 1.0
    across, down = _in_order(rows, "x"), _in_order(rows, "y")
    x = alt.X("x:N", sort=across, title=one_line(chart.x_title), axis=alt.Axis(labelAngle=0))
    y = alt.Y("y:N", sort=down, title=one_line(chart.y_title))
    scale = alt.Scale(scheme="viridis", domain=[low, high])
    legend = alt.Legend(title=None, format="~%" if share else "~g", orient="right", gradientLength=140)
    base = alt.Chart(_values(known)).encode(x=x, y=y)
    cells = base.mark_rect(stroke=_INK, strokeOpacity=0.15, cornerRadius=2).encode(
        color=alt.Color("value:Q", scale=scale, legend=legend), tooltip=["x:N", "y:N", "value:Q"]
    )
    ink = alt.condition(f"datum.value > {low + 0.55 * (high - low)!r}", alt.value("#101418"), alt.value("#ffffff"))
    text = base.mark_text(fontSize=12).encode(text=alt.Text("value:Q", format=".1%" if share else ".3~g"), color=ink)
    return alt.layer(cells, text).properties(height=max(68, 34 * len(down)))


def _marks(chart: Chart) -> list[Any]:
    """Return dashed vertical rules with labels above the plot; a label near the one before stands a line higher."""
    import altair as alt

    layers: list[Any] = []
    drawn = [row.get(name) for row in chart.rows for name in ("x", "estimate", "lower", "upper", "value")]
    places = [float(at) for at in drawn if isinstance(at, (int, float))] + [at for _, at in chart.marks]
    near, position, before = 0.25 * (max(places, default=0) - min(places, default=0)), 0, -math.inf
    for label, at in sorted(chart.marks, key=lambda mark: mark[1]):
        position, before = (position + 1 if at - before < near else 0), at
        base = alt.Chart(_values([{"at": at, "label": one_line(label, 60)}])).encode(x=alt.X("at:Q"))
        layers.append(base.mark_rule(strokeDash=[5, 4], strokeWidth=1.5, color=_INK, opacity=0.75))
        text = base.mark_text(align="center", baseline="bottom", dy=-4 - 14 * (position % 3), color=_INK, fontSize=12)
        layers.append(text.encode(text="label:N", y=alt.value(0)))
    return layers


def _all(names: list[str]) -> alt.Scale:
    import altair as alt

    return alt.Scale(domain=names)


def _shapes(names: list[str]) -> alt.Scale:
    import altair as alt

    return alt.Scale(domain=names, range=[SHAPES[i % len(SHAPES)] for i in range(len(names))])


def _dashes(names: list[str]) -> alt.Scale:
    import altair as alt

    return alt.Scale(domain=names, range=[list(DASHES[i % len(DASHES)]) for i in range(len(names))])


def _config() -> dict[str, Any]:
    return {
        "font": "system-ui, -apple-system, 'Segoe UI', sans-serif",
        "view": {"stroke": None},
        "title": {"color": _INK, "anchor": "start", "fontSize": 15, "fontWeight": 600, "offset": 18},
        "axis": {
            "grid": False,
            "domainColor": _INK,
            "domainOpacity": 0.4,
            "tickColor": _INK,
            "tickOpacity": 0.4,
            "labelColor": _INK,
            "titleColor": _INK,
            "labelFontSize": 12,
            "titleFontSize": 12,
            "titleFontWeight": 500,
            "titlePadding": 10,
            "labelLimit": 240,
        },
        "legend": {
            "labelColor": _INK,
            "titleColor": _INK,
            "labelFontSize": 12,
            "orient": "bottom",
            "labelLimit": 240,
            "symbolOpacity": 1,
        },
        "text": {"color": _INK},
    }


def _tree(chart: Chart, rows: list[dict[str, Cell]]) -> Any:
    import altair as alt

    kinds = _in_order(rows, "kind")
    branches = [
        {**row, "x_mid": (_at(row, "x") + _at(row, "x_from")) / 2, "y_mid": (_at(row, "y") + _at(row, "y_from")) / 2}
        for row in rows
        if row["x_from"] is not None
    ]
    deepest = max((_at(row, "x") for row in rows), default=0.0)
    axis = alt.Axis(title=one_line(chart.x_title), tickMinStep=1, format="d")
    x = alt.X("x:Q", axis=axis, scale=alt.Scale(domain=[-0.1, deepest + 0.9], nice=False))
    bare = alt.Axis(labels=False, ticks=False, domain=False, title=None)
    y = alt.Y("y:Q", axis=bare, scale=alt.Scale(padding=24, zero=False, nice=False))
    colour = alt.Color("kind:N", scale=alt.Scale(domain=kinds, range=list(PALETTE[: len(kinds)])), title=None)
    shape = alt.Shape("kind:N", scale=_shapes(kinds), title=None)
    lines = alt.Chart(_values(branches)).mark_rule(color=_INK, opacity=0.4)
    said = alt.Chart(_values(branches)).mark_text(color=_INK, fontSize=10, dy=-6, opacity=0.8)
    nodes = alt.Chart(_values(rows))
    parents = {(row["x_from"], row["y_from"]) for row in branches}
    inner, leaves = (
        alt.Chart(_values([row for row in rows if ((row["x"], row["y"]) in parents) is wanted]))
        for wanted in (True, False)
    )
    return alt.layer(
        lines.encode(x=alt.X("x_from:Q"), y=alt.Y("y_from:Q"), x2=alt.X2("x:Q"), y2=alt.Y2("y:Q")),
        said.encode(x=alt.X("x_mid:Q"), y=alt.Y("y_mid:Q"), text="edge:N"),
        nodes.mark_point(size=110, filled=True, opacity=1).encode(x=x, y=y, color=colour, shape=shape),
        inner.mark_text(color=_INK, fontSize=11, dy=-13).encode(x=x, y=y, text="label:N"),
        leaves.mark_text(color=_INK, fontSize=11, align="left", dx=9).encode(x=x, y=y, text="label:N"),
    ).properties(height=max(160, 30 * len({row["y"] for row in rows})))


def _at(row: dict[str, Cell], name: str) -> float:
    value = row[name]
    return float(value) if isinstance(value, (int, float)) else 0.0


_BUILDERS = {
    ChartKind.INTERVALS: _intervals,
    ChartKind.BARS: _bars,
    ChartKind.LINES: _lines,
    ChartKind.HEAT: _heat,
    ChartKind.STEPS: _steps,
    ChartKind.TREE: _tree,
}
