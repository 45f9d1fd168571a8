import { FairnessToolkitError } from '../exceptions/index.ts';
import { findJsonProblem } from '../internal/strict-json.ts';
import type { EventStream } from './tracker/event-stream.ts';

/**
 * Counts events that arrive as JSON objects. An object with an id and a true label, but without a prediction, sets the
 * label of an earlier event.
 */
export class LineCounter {
  readonly #stream: EventStream;
  readonly #labelKeys: ReadonlySet<string>;
  /** The numbers of objects with events, and of objects with labels. */
  readonly counts = { events: 0, labels: 0 };

  constructor(stream: EventStream) {
    const { id, protected: names } = stream.options.columns;
    this.#stream = stream;
    this.#labelKeys = new Set(id === undefined ? names : [...names, id]);
  }

  /** Counts a line. If the line cannot be counted, returns the reason. */
  count(line: string): string | undefined {
    const { yPred, yTrue, id } = this.#stream.options.columns;
    try {
      const parsed: unknown = JSON.parse(line);
      if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return 'it is not a JSON object';
      const problem = findJsonProblem(line, this.#labelKeys);
      if (problem !== undefined) return `${problem.pointer} ${problem.reason}`;
      const event = parsed as Record<string, unknown>;
      const isLabel =
        id !== undefined && yTrue !== undefined && !Object.hasOwn(event, yPred) && Object.hasOwn(event, yTrue);
      if (!isLabel) {
        this.#stream.addEvent(event);
        this.counts.events++;
        return undefined;
      }
      const key = event[id];
      if (typeof key !== 'string' && typeof key !== 'number') return `its '${id}' is neither text nor a number`;
      // A rejected label is counted by the stream, with its reason.
      this.#stream.addLabel(key, event[yTrue]);
      this.counts.labels++;
      return undefined;
    } catch (error) {
      if (error instanceof SyntaxError) return 'it is not valid JSON';
      if (error instanceof FairnessToolkitError) return error.message;
      throw error;
    }
  }
}
