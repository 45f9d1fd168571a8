import { DataValidationError } from '../../exceptions/index.ts';
import { quote } from '../../internal/arguments.ts';
import { readVector } from '../client/embedding-client.ts';
import type { Answered } from './dimension-answers.ts';
import type { AnswerDistance } from './answer-distance.ts';

/** A function that returns one vector for each text. All vectors have the same length. */
export type Embedder = (texts: readonly string[]) => Promise<readonly (readonly number[])[]>;

/** The embeddings of texts, scaled to length 1. */
export type Embeddings = ReadonlyMap<string, Float64Array>;

/**
 * Embeds texts. Blank texts are not sent, because many models reject them.
 * @throws {DataValidationError} if the embedder does not return one valid vector for each text
 */
export async function embedTexts(texts: Iterable<string>, embed: Embedder): Promise<Embeddings> {
  const distinct = [...new Set(texts)].filter((text) => text.trim() !== '');
  if (distinct.length === 0) return new Map();
  const vectors: unknown = await embed(distinct);
  const list: readonly unknown[] = Array.isArray(vectors) ? vectors : [];
  if (list.length !== distinct.length) {
    throw badVectors(`${String(list.length)} vectors for ${String(distinct.length)} texts`);
  }
  const read = list.map((vector, index) => {
    const values = readVector(Array.isArray(vector) ? vector : ArrayBuffer.isView(vector) ? [...(vector as Float32Array)] : vector); // prettier-ignore
    if (values === undefined) throw badVectors(`vector ${String(index)} is ${quote(vector)}`);
    return values;
  });
  const other = read.find(({ length }) => length !== read[0]?.length);
  if (other !== undefined)
    throw badVectors(`vectors of ${String(read[0]?.length)} and of ${String(other.length)} numbers`);
  return new Map(distinct.map((text, index) => [text, toUnit(read[index] as readonly number[])]));
}

function toUnit(vector: readonly number[]): Float64Array {
  const length = Math.hypot(...vector);
  return Float64Array.from(vector, (value) => value / length);
}

/** Creates the distance 1 - cosine, from 0 to 2. A blank text has the distance 1 to every other text. */
export function cosineDistance(textOf: (answer: Answered) => string, embeddings: Embeddings): AnswerDistance {
  const between = (first: string, second: string): number => {
    if (first === second) return 0;
    const [a, b] = [embeddings.get(first), embeddings.get(second)];
    if (a === undefined || b === undefined) return a === b ? 0 : 1;
    const cosine = a.reduce((sum, value, index) => sum + value * (b[index] as number), 0);
    return 1 - Math.max(-1, Math.min(1, cosine));
  };
  return { metric: 'embedding_excess', textOf, between };
}

function badVectors(reason: string): DataValidationError {
  return new DataValidationError(`The embedder returned ${reason}.`, {
    code: 'invalid-value',
    context: { argument: 'embed' },
    suggestion: 'Return one vector for each text. All vectors must have the same length, and numbers other than 0.',
  });
}
