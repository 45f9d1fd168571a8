import { Utf8Stream } from '../../internal/decode-utf8.ts';

/** An event of a stream, as it was sent. */
export interface StreamEvent {
  readonly id: string;
  readonly type: string;
  readonly data: string;
}

const LINE_END = /\r\n|\n|\r(?!$)/;

/**
 * The events of a stream (`text/event-stream`, WHATWG HTML section 9.2). An event that the end of the stream cuts off is
 * left out, as the standard asks.
 * @yields each event when its last line has come
 * @throws {DataValidationError} for bytes that are not UTF-8
 */
export async function* parseEvents(stream: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent, void, undefined> {
  const decoder = new Utf8Stream('The stream of events');
  const reader = stream.getReader();
  let rest = '';
  let fields = new EventFields();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.write(value)).split(LINE_END);
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line !== '') {
          fields.add(line);
          continue;
        }
        if (fields.hasData) yield fields.toEvent();
        fields = new EventFields(fields.id);
      }
    }
  } finally {
    // Whoever stops reading lets go of the connection. What is lost with a connection that broke is told by `read`.
    await reader.cancel().catch(() => undefined);
  }
}

/** The lines of one event. The last id holds until another one comes. */
class EventFields {
  id: string;
  #type = 'message';
  readonly #data: string[] = [];

  constructor(id = '') {
    this.id = id;
  }

  get hasData(): boolean {
    return this.#data.length > 0;
  }

  add(line: string): void {
    const colon = line.indexOf(':');
    // A line that begins with a colon is a comment, sent to keep the connection.
    if (colon === 0) return;
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'id') this.id = value;
    else if (name === 'event') this.#type = value;
    else if (name === 'data') this.#data.push(value);
  }

  toEvent(): StreamEvent {
    return { id: this.id, type: this.#type, data: this.#data.join('\n') };
  }
}
