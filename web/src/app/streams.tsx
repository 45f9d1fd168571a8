import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import type { MonitorState } from '../../../src/monitoring/alarms/alert-event.ts';
import { STATE_WORDS, STATES } from '../../../src/monitoring/dashboard/state-words.ts';
import { NEEDS_KEY, readService, serviceUrl } from './service.ts';

/** A gap of a stream in its window. */
interface Gap {
  readonly state: MonitorState;
  readonly value: number | null;
  readonly limit: number;
  readonly groups: readonly string[] | null;
}

/** The state of a stream, as the service reports it. */
interface StreamState {
  readonly stream: string;
  readonly n_events: number;
  readonly timestamp: string | null;
  readonly alerts: readonly { readonly timestamp: string }[];
  readonly metrics: Readonly<Record<string, Readonly<Record<string, Gap>>>>;
}

/** The colour of each state. */
const KINDS: Readonly<Record<MonitorState, string>> = {
  breach: 'fail',
  watch: 'undefined',
  unknown: 'undefined',
  within: 'pass',
};

const REFRESH_MILLIS = 10_000;
const MAX_STREAMS = 50;

/** The monitored streams with their states and gaps. Shows nothing if there are no streams. */
export function Streams(): JSX.Element | null {
  const [states, setStates] = useState<readonly StreamState[]>([]);
  const [count, setCount] = useState(0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isCurrent = true;
    const list = async (): Promise<void> => {
      try {
        const { streams } = await readService<{ readonly streams: readonly { readonly stream: string }[] }>('monitor');
        const found: StreamState[] = [];
        for (const { stream } of streams.slice(0, MAX_STREAMS)) {
          found.push(await readService<StreamState>(`monitor/${encodeURIComponent(stream)}`));
        }
        if (!isCurrent) return;
        setStates(found);
        setCount(streams.length);
      } catch {
        // The list of runs reports that the service cannot be reached.
      }
      if (isCurrent) timer = setTimeout(() => void list(), REFRESH_MILLIS);
    };
    void list();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, []);
  if (states.length === 0) return null;
  return (
    <section class="card" aria-labelledby="streams">
      <h2 id="streams">Monitored streams</h2>
      <ul class="streams">
        {states.map((one) => (
          <Stream key={one.stream} stream={one} />
        ))}
      </ul>
      {count > states.length && (
        <p class="hint">
          {states.length} of {count} streams are shown. GET /monitor lists all of them.
        </p>
      )}
    </section>
  );
}

function Stream({ stream }: { readonly stream: StreamState }): JSX.Element {
  const { stream: name, n_events: events, timestamp, alerts, metrics } = stream;
  const gaps = Object.entries(metrics).flatMap(([attribute, own]) =>
    Object.entries(own).map(([metric, gap]) => ({ attribute, metric, ...gap })),
  );
  const worst = STATES.find((state) => gaps.some((gap) => gap.state === state)) ?? 'unknown';
  const last = alerts.at(-1);
  return (
    <li class="stream">
      <div class="run-head">
        <a href={serviceUrl(`monitor/${encodeURIComponent(name)}/dashboard`)} target="_blank" rel="noopener">
          <bdi>{name}</bdi>
        </a>
        <span class={`status ${KINDS[worst]}`}>
          {STATE_WORDS[worst].sign} {STATE_WORDS[worst].word}
        </span>
        <small>
          {events.toLocaleString('en-US')} events{timestamp === null ? '' : `, last ${timeText(timestamp)}`}
        </small>
        <small>
          {alerts.length === 0
            ? 'no alarms'
            : `${String(alerts.length)} ${alerts.length === 1 ? 'alarm' : 'alarms'}, last ${timeText(last?.timestamp ?? '')}`}
        </small>
      </div>
      <ul class="gaps">
        {gaps.map(({ attribute, metric, value, limit, state, groups }) => (
          <li key={`${attribute} ${metric}`}>
            <span class={`status ${KINDS[state]}`}>
              {STATE_WORDS[state].sign} {STATE_WORDS[state].word}
            </span>{' '}
            {metric.replaceAll('_', ' ')} by <bdi>{attribute}</bdi>:{' '}
            <strong>{value === null ? 'undefined' : value.toFixed(4)}</strong>, limit {limit}
            {state === 'breach' && groups !== null && groups.length === 2 && ` (${groups.join(' and ')})`}
          </li>
        ))}
      </ul>
      {NEEDS_KEY && <small>The dashboard opens in a new tab, where the browser asks for the key as a password.</small>}
    </li>
  );
}

function timeText(timestamp: string): string {
  const time = new Date(timestamp);
  return Number.isNaN(time.getTime()) ? timestamp : time.toLocaleString();
}
