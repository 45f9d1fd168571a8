import { type Html, markup } from '../internal/html.ts';
import type { MarkedText, ReportPair, ReportSide } from './report-document.ts';
import { cutAnswer, plainText, shortenBetween } from './report-text.ts';

/** Renders a pair as a box with both sides next to each other, or below each other on a narrow page. */
export function pairToHtml({ title, sides }: ReportPair): Html {
  return markup`<div class="pair" role="group" aria-label="${plainText(title)}">
<p class="pair-title"><strong><bdi>${plainText(title)}</bdi></strong></p>
<div class="sides">
${sides.map(sideToHtml)}</div>
</div>
`;
}

function sideToHtml({ name, asked, said }: ReportSide): Html {
  return markup`<div>
<p class="side">Prompt (<bdi>${plainText(name)}</bdi>)</p>
<p class="asked" dir="auto">${asked.map((piece, index) => pieceToHtml(piece, positionOf(index, asked.length)))}</p>
<p class="side">Answer</p>
<blockquote class="said" dir="auto">${cutAnswer(said)}</blockquote>
</div>
`;
}

function pieceToHtml({ text, isMarked }: MarkedText, index: PiecePosition): Html {
  return isMarked ? markup`<mark>${shortenBetween(text, 'only')}</mark>` : markup`${shortenBetween(text, index)}`;
}

/** The position of a piece among the others. */
export type PiecePosition = Parameters<typeof shortenBetween>[1];

/** Returns the position of the piece with this index among `count` pieces. */
export function positionOf(index: number, count: number): PiecePosition {
  if (count === 1) return 'only';
  return index === 0 ? 'first' : index === count - 1 ? 'last' : 'between';
}
