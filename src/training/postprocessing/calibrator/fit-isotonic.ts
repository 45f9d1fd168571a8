import { countAtMost } from '../count-at-most.ts';
import type { FittedMap, LabelledScores } from './labelled-scores.ts';

/**
 * Isotonic regression of labels on scores: the rates, rising with the score,
 * of least weighted squared error, by pooling adjacent violators (Ayer et al.
 * 1955). Equal scores are pooled first. O(n log n) to find them, O(n) after it.
 */
export function fitIsotonic({ scores, y, weights }: LabelledScores): FittedMap {
  const distinct = distinctSorted(scores);
  const [weightOf, yesOf] = [new Float64Array(distinct.length), new Float64Array(distinct.length)];
  for (let row = 0; row < scores.length; row++) {
    const place = countAtMost(distinct, scores[row] as number) - 1;
    const weight = weights[row] as number;
    weightOf[place] = (weightOf[place] as number) + weight;
    yesOf[place] = (yesOf[place] as number) + weight * (y[row] as number);
  }
  const rates = poolViolators(yesOf, weightOf);
  // Inside a flat stretch no point is needed to draw it.
  const isCorner = (place: number): boolean => rates[place] !== rates[place - 1] || rates[place] !== rates[place + 1];
  const kept = rates.flatMap((_, place) => (isCorner(place) ? [place] : []));
  return {
    map: {
      kind: 'isotonic',
      scores: kept.map((place) => distinct[place] as number),
      rates: kept.map((place) => rates[place] as number),
    },
    warning:
      rates[0] === rates.at(-1) ? 'the curve is flat, since the rate of positives does not rise with the score' : null,
  };
}

/** Typed arrays sort numbers by themselves, which is faster than indexes by a comparison. */
function distinctSorted(values: Float64Array): Float64Array {
  const sorted = values.toSorted();
  return sorted.filter((value, place) => value !== sorted[place - 1]);
}

/** The rising rates nearest to yes / weight. Blocks are kept on a stack, so each place is merged at most once. */
function poolViolators(yesOf: Float64Array, weightOf: Float64Array): number[] {
  const blocks: { yes: number; weight: number; places: number }[] = [];
  for (const [place, yes] of yesOf.entries()) {
    let block = { yes, weight: weightOf[place] as number, places: 1 };
    for (let last = blocks.at(-1); last !== undefined && rateOf(last) >= rateOf(block); last = blocks.at(-1)) {
      block = { yes: last.yes + block.yes, weight: last.weight + block.weight, places: last.places + block.places };
      blocks.pop();
    }
    blocks.push(block);
  }
  return blocks.flatMap((block) => Array<number>(block.places).fill(rateOf(block)));
}

function rateOf({ yes, weight }: { readonly yes: number; readonly weight: number }): number {
  return yes / weight;
}
