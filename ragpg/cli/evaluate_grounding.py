"""`ragpg eval-grounding`: how well a judge tells supported claims from others."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragpg.cli import clients, options, output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragpg.evaluate.grounding import Detection, JudgeReport
    from ragpg.protocols import Judge


@click.command("eval-grounding")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--nli", type=click.Path(exists=True), help="Also a local entailment model (ONNX)")
@click.option("--veto", is_flag=True, help="Let facts veto them as in `ragpg ask`")
@click.option("--embedding", is_flag=True, help="Also cosines of the local embedder")
@click.option("--generator", help="Also a chat model: openai or openai:MODEL; asked for each claim")
@click.option("--claims", "most", type=click.IntRange(1),
              help="At most so many labelled claims of a split")  # fmt: skip
@click.option("--pairs", default=300, show_default=True, type=click.IntRange(0, 10000),
              help="So many changed sentences of the corpus, and as many unchanged")  # fmt: skip
@click.option("--fail-below", type=click.FloatRange(0, 1),
              help="Exit with 1 when less of the changed sentences is caught")  # fmt: skip
@options.json_output
@click.pass_context
def evaluate_grounding(
    ctx: click.Context,
    folder: Path,
    *,
    nli: str | None,
    veto: bool,
    embedding: bool,
    generator: str | None,
    most: int | None,
    pairs: int,
    fail_below: float | None,
    as_json: bool,
) -> None:
    """Measure judges on the labelled claims (claims.jsonl) of FOLDER, where it has some, and on
    sentences of its corpus with one fact changed. No database and no network are needed.

    \b
    ragpg eval-grounding data/scifact
    ragpg eval-grounding data/scifact --generator openai:gpt-4o-mini --claims 200 --pairs 0
    ragpg eval-grounding docs-corpus --pairs 600 --fail-below 0.9
    """
    from ragpg.evaluate import grounding
    from ragpg.evaluate.corruptions import claim_pairs

    judges = _judges(nli, embedding, generator, veto=veto)
    reports: list[JudgeReport] = []
    if (folder / "claims.jsonl").is_file() or (folder / "claims.jsonl.gz").is_file():
        claims = grounding.read_claims(folder, most)
        reports.append(grounding.evaluate_score(claims, "ROUGE-1", grounding.rouge_1))
        reports += [grounding.evaluate_judge(claims, judge) for judge in judges]
    texts = grounding.read_texts(folder)
    made = claim_pairs(texts, pairs, pairs) if pairs else []
    detections = [grounding.detect(made, judge) for judge in judges] if made else []
    if as_json:
        output.print_json(
            {
                "claims": [asdict(one) for one in reports],
                "changed": [_detection_json(one) for one in detections],
            }
        )
    else:
        click.echo(_shown(reports, detections))
    if fail_below is not None and any(one.caught_share < fail_below for one in detections):
        ctx.exit(output.FAILED)


def _judges(
    nli: str | None, embedding: bool, generator: str | None, *, veto: bool
) -> list[Judge | None]:
    from ragpg.judges.embedding import EmbeddingJudge
    from ragpg.judges.nli import NLIJudge
    from ragpg.judges.options import FACTS, FIGURES
    from ragpg.judges.veto import VetoJudge

    judges: list[Any] = []
    if embedding:
        from ragpg.providers.onnx import LocalEmbedder

        cosines = EmbeddingJudge(LocalEmbedder())
        judges.append(VetoJudge(cosines, FACTS) if veto else cosines)
    if nli is not None:
        judges.append(VetoJudge(NLIJudge(nli), FIGURES) if veto else NLIJudge(nli))
    if generator is not None:
        from ragpg.judges.llm import LLMJudge

        judges.append(LLMJudge(clients.make_generator(generator)))
    return [None, *judges]


def _detection_json(one: Detection) -> dict[str, Any]:
    return {
        "judge": one.judge,
        "caught": one.caught_share,
        "alarms": one.alarm_share,
        "by_kind": {**one.caught, **one.alarms},
    }


def _shown(reports: Sequence[JudgeReport], detections: Sequence[Detection]) -> str:
    lines = []
    if reports:
        lines.append(
            "judge, and supported claims against      AUC        (95 %)  precision  recall"
            "  balanced accuracy        (95 %)  threshold"
        )
    for report in reports:
        lines.append(report.judge)
        rows = [*report.separations.items()]
        if report.verdicts:
            rows.append(("all others, by verdict", report.by_verdict))
        for name, one in rows:
            area, balanced = (_span(found) for found in (one.auc_interval, one.balanced_interval))
            lines.append(
                f"  {name:<32} {one.auc:9.3f} {area:>13} {one.precision:10.3f} {one.recall:7.3f}"
                f" {one.balanced_accuracy:18.3f} {balanced:>13} {one.threshold:10.2f}"
            )
        lines.extend(f"  {note}" for note in report.notes)
    for found in detections:
        lines.append(
            f"{found.judge}: {found.caught_share:.3f} of changed sentences caught,"
            f" {found.alarm_share:.3f} false alarms"
        )
        for kind, (part, whole) in [*found.caught.items(), *found.alarms.items()]:
            lines.append(f"  {kind:<24} {part} of {whole}")
    return "\n".join(lines)


def _span(interval: tuple[float, float]) -> str:
    return f"{interval[0]:.3f}-{interval[1]:.3f}"
