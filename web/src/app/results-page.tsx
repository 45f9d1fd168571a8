import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import type { ReportSection } from '../../../src/document/report-document.ts';
import { Blocks, ProblemBox } from './blocks.tsx';
import type { EngineClient } from './client.ts';

/** A run in the list of the service. */
interface RunSummary {
  readonly run_id: string;
  readonly endpoint: string;
  readonly status: string;
  readonly created_at: string;
  readonly finished_at: string | null;
}

/** A run with its result. */
interface Run extends RunSummary {
  readonly result: Readonly<Record<string, unknown>> | null;
  readonly problem: { readonly detail?: string; readonly suggestion?: string } | null;
}

const TITLES: Readonly<Record<string, string>> = {
  '/validate': 'Audit of decisions',
  '/pipeline': 'Check of data',
  '/workflow': 'Workflow',
  '/llm-eval': 'Evaluation of a language model',
  '/train': 'Training',
  '/predict': 'Predictions',
  '/calibrate': 'Calibration',
  '/ab-test': 'A/B test',
};

/** The time between two lists while runs are active, and otherwise, in milliseconds. */
const ACTIVE_MILLIS = 2000;
const IDLE_MILLIS = 10_000;

const MAX_RUNS = 1000;

/** The address of the service, which serves this page. */
function serviceUrl(path: string): string {
  return `${document.documentElement.dataset['base'] ?? '.'}/${path}`;
}

async function read<T>(path: string): Promise<T> {
  const answer = await fetch(serviceUrl(path), { headers: { accept: 'application/json' } });
  const body = (await answer.json()) as T & { readonly detail?: string };
  if (!answer.ok) throw new Error(body.detail ?? `The service answered ${String(answer.status)}.`);
  return body;
}

function isActive({ status }: RunSummary): boolean {
  return status === 'queued' || status === 'running';
}

interface ShownProblem {
  readonly message: string;
  readonly suggestion?: string | undefined;
}

/** The page with the runs of a service: list, search, progress, reports, and the comparison of two audits. */
export function ResultsPage({ client }: { readonly client: EngineClient }): JSX.Element {
  const [runs, setRuns] = useState<readonly RunSummary[]>();
  const [problem, setProblem] = useState<ShownProblem>();
  const [text, setText] = useState('');
  const [endpoint, setEndpoint] = useState('');
  const [opened, setOpened] = useState<string>();
  const [compared, setCompared] = useState<readonly string[]>([]);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isCurrent = true;
    const list = async (): Promise<void> => {
      let wait = IDLE_MILLIS;
      try {
        const { results } = await read<{ readonly results: readonly RunSummary[] }>(
          `results?limit=${String(MAX_RUNS)}`,
        );
        if (!isCurrent) return;
        setRuns(results);
        setProblem(undefined);
        if (results.some(isActive)) wait = ACTIVE_MILLIS;
      } catch (error) {
        if (isCurrent) setProblem({ message: (error as Error).message, suggestion: 'Is the service still running?' });
      }
      if (isCurrent) timer = setTimeout(() => void list(), wait);
    };
    void list();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, []);

  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const shown = (runs ?? []).filter(
    (run) => (endpoint === '' || run.endpoint === endpoint) && words.every((word) => searchText(run).includes(word)),
  );
  const endpoints = [...new Set((runs ?? []).map((run) => run.endpoint))].sort();
  return (
    <div class="runs">
      <div class="card intro">
        <h1>Results of this service</h1>
        <p>
          Runs that were sent to the service, newest first. The <a href={serviceUrl('docs')}>documentation</a> says how
          to send one; the <a href={serviceUrl('dashboard')}>dashboard</a> shows a monitored stream.
        </p>
        <div class="compare">
          <label class="field" for="run-search">
            <span>Search</span>
            <input
              id="run-search"
              type="text"
              placeholder="id, kind, status or date"
              value={text}
              onInput={(event) => {
                setText(event.currentTarget.value);
              }}
            />
          </label>
          <label class="field" for="run-endpoint">
            <span>Kind</span>
            <select
              id="run-endpoint"
              value={endpoint}
              onChange={(event) => {
                setEndpoint(event.currentTarget.value);
              }}
            >
              <option value="">All kinds</option>
              {endpoints.map((one) => (
                <option key={one} value={one}>
                  {TITLES[one] ?? one}
                </option>
              ))}
            </select>
          </label>
        </div>
      </div>
      {problem !== undefined && <ProblemBox problem={problem} />}
      {compared.length === 2 && (
        <Comparison
          client={client}
          ids={compared}
          onClose={() => {
            setCompared([]);
          }}
        />
      )}
      {runs !== undefined && shown.length === 0 && (
        <div class="card waiting">
          <h2>{runs.length === 0 ? 'No runs yet' : 'No run matches'}</h2>
          <p>
            {runs.length === 0
              ? 'A run appears here as soon as somebody sends one to the service.'
              : 'Change the search.'}
          </p>
        </div>
      )}
      <ul class="run-list" aria-label="Runs">
        {shown.map((run) => (
          <li key={run.run_id} class="card run">
            <div class="run-head">
              <button
                type="button"
                class="quiet"
                aria-expanded={opened === run.run_id}
                onClick={() => {
                  setOpened(opened === run.run_id ? undefined : run.run_id);
                }}
              >
                {TITLES[run.endpoint] ?? run.endpoint}
              </button>
              <span class={`run-status ${run.status}`}>{run.status}</span>
              <time dateTime={run.created_at}>{new Date(run.created_at).toLocaleString()}</time>
              <code>{run.run_id}</code>
              {run.endpoint === '/validate' && run.status === 'succeeded' && (
                <label class="choice">
                  <input
                    type="checkbox"
                    checked={compared.includes(run.run_id)}
                    onChange={(event) => {
                      const isOn = event.currentTarget.checked;
                      setCompared((earlier) => {
                        const others = earlier.filter((id) => id !== run.run_id);
                        return isOn ? [...others.slice(-1), run.run_id] : others;
                      });
                    }}
                  />
                  <span>Compare</span>
                </label>
              )}
            </div>
            {isActive(run) && <RunProgress id={run.run_id} />}
            {opened === run.run_id && <RunDetails key={run.status} id={run.run_id} />}
          </li>
        ))}
      </ul>
    </div>
  );
}

function searchText({ run_id: id, endpoint, status, created_at: created }: RunSummary): string {
  return [id, endpoint, TITLES[endpoint], status, created, new Date(created).toLocaleString()].join(' ').toLowerCase();
}

/** The progress of a run, which the service sends as it happens. */
function RunProgress({ id }: { readonly id: string }): JSX.Element {
  const [event, setEvent] = useState<{ readonly stage: string; readonly done: number; readonly total: number }>();
  useEffect(() => {
    const source = new EventSource(serviceUrl(`results/${id}/events`));
    source.addEventListener('progress', ({ data }: MessageEvent<string>) => {
      setEvent(JSON.parse(data) as typeof event);
    });
    return () => {
      source.close();
    };
  }, [id]);
  const stage = event?.stage ?? 'waiting';
  return (
    <div class="status-line busy" role="status">
      <span>{stage}</span>
      <progress
        value={event === undefined || event.total < 2 ? undefined : event.done / event.total}
        aria-label={stage}
      />
    </div>
  );
}

/** The result of a run: its verdict, and its report. */
function RunDetails({ id }: { readonly id: string }): JSX.Element {
  const [run, setRun] = useState<Run>();
  const [problem, setProblem] = useState<ShownProblem>();
  useEffect(() => {
    read<Run>(`results/${id}`).then(setRun, (error: unknown) => {
      setProblem(error as Error);
    });
  }, [id]);
  if (problem !== undefined) return <ProblemBox problem={problem} />;
  if (run === undefined) return <p class="hint">Loading …</p>;
  const { result, problem: failure } = run;
  const passed = result?.['passed'];
  const gates = Array.isArray(result?.['gates']) ? (result['gates'] as readonly { readonly message?: unknown }[]) : [];
  return (
    <div class="run-details">
      {failure !== null && (
        <ProblemBox problem={{ message: failure.detail ?? 'The run failed.', suggestion: failure.suggestion }} />
      )}
      {typeof passed === 'boolean' && (
        <p class={`status ${passed ? 'pass' : 'fail'}`}>{passed ? '✓ Passed' : '✗ Failed'}</p>
      )}
      {gates.length > 0 && (
        <ul>
          {gates.map(({ message }, index) => (
            <li key={index}>{String(message)}</li>
          ))}
        </ul>
      )}
      {result !== null && (
        <p class="run-links">
          <a href={serviceUrl(`results/${id}`)} target="_blank" rel="noopener">
            Open the report
          </a>
          {(run.endpoint === '/pipeline' || run.endpoint === '/workflow') && (
            <a href={serviceUrl(`results/${id}/data?format=csv`)}>Transformed data (CSV)</a>
          )}
        </p>
      )}
    </div>
  );
}

/** What changed between two audits: the older one is the earlier. */
function Comparison({
  client,
  ids,
  onClose,
}: {
  readonly client: EngineClient;
  readonly ids: readonly string[];
  readonly onClose: () => void;
}): JSX.Element {
  const [section, setSection] = useState<ReportSection>();
  const [runs, setRuns] = useState<readonly Run[]>([]);
  const [problem, setProblem] = useState<ShownProblem>();
  useEffect(() => {
    let isCurrent = true;
    const compare = async (): Promise<void> => {
      const found = await Promise.all(ids.map((id) => read<Run>(`results/${id}`)));
      found.sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
      const [before, after] = found.map(({ result }) => JSON.stringify(result));
      const changes = await client.ask('compareResults', [before ?? '', after ?? '']);
      if (!isCurrent) return;
      setRuns(found);
      setSection(changes);
    };
    compare().catch((error: unknown) => {
      if (isCurrent) setProblem(error as Error);
    });
    return () => {
      isCurrent = false;
    };
  }, [client, ids]);
  return (
    <section class="card" aria-labelledby="comparison">
      <h2 id="comparison">What changed</h2>
      {runs.length === 2 && (
        <p>
          Before: {new Date(runs[0]?.created_at ?? 0).toLocaleString()}. Now:{' '}
          {new Date(runs[1]?.created_at ?? 0).toLocaleString()}.
        </p>
      )}
      {problem !== undefined && <ProblemBox problem={problem} />}
      {section !== undefined && <Blocks blocks={section.blocks} />}
      <button type="button" class="quiet" onClick={onClose}>
        Stop comparing
      </button>
    </section>
  );
}
