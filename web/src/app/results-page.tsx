import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { ProblemBox } from './blocks.tsx';
import type { EngineClient } from './client.ts';
import { Comparison, RunDetails, RunProgress, type RunSummary, type ShownProblem } from './run-details.tsx';
import { NEEDS_KEY, readService, ServiceError, serviceUrl, keepKey } from './service.ts';
import { Streams } from './streams.tsx';

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

function isActive({ status }: RunSummary): boolean {
  return status === 'queued' || status === 'running';
}

/** The page with the runs and streams of a service. It asks for a key if the service needs one. */
export function ResultsPage({ client }: { readonly client: EngineClient }): JSX.Element {
  const [isOpen, setOpen] = useState(!NEEDS_KEY);
  const [problem, setProblem] = useState<ShownProblem>();
  const close = (reason: ShownProblem | undefined): void => {
    keepKey(undefined);
    setProblem(reason);
    setOpen(false);
  };
  if (isOpen) return <Results client={client} onClose={close} />;
  return (
    <KeyForm
      problem={problem}
      onKey={(given) => {
        keepKey(given);
        setProblem(undefined);
        setOpen(true);
      }}
    />
  );
}

/** Asks for the key of the service. */
function KeyForm({
  problem,
  onKey,
}: {
  readonly problem: ShownProblem | undefined;
  readonly onKey: (key: string) => void;
}): JSX.Element {
  const [text, setText] = useState('');
  return (
    <form
      class="card key-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') onKey(text.trim());
      }}
    >
      <h1>This service needs a key</h1>
      <p>
        The operator of the service gives you one. This page keeps it only until it is closed or loaded again, and sends
        it to this service only.
      </p>
      {problem !== undefined && <ProblemBox problem={problem} />}
      <label class="field" for="service-key">
        <span>Key</span>
        <input
          id="service-key"
          type="password"
          autocomplete="off"
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
          }}
        />
      </label>
      <button type="submit" class="primary" disabled={text.trim() === ''}>
        Show the results
      </button>
    </form>
  );
}

interface ResultsProps {
  readonly client: EngineClient;
  /** Forgets the key. */
  readonly onClose: (reason: ShownProblem | undefined) => void;
}

/** The runs: list, search, progress, reports, and the comparison of two audits. */
function Results({ client, onClose }: ResultsProps): JSX.Element {
  const [runs, setRuns] = useState<readonly RunSummary[]>();
  const [problem, setProblem] = useState<ShownProblem>();
  const [text, setText] = useState('');
  const [endpoint, setEndpoint] = useState('');
  const [opened, setOpened] = useState<string>();
  const [compared, setCompared] = useState<readonly string[]>([]);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isCurrent = true;
    const report = (error: unknown): void => {
      if (NEEDS_KEY && error instanceof ServiceError && error.status === 401) {
        onClose({
          message: 'The service does not accept this key.',
          suggestion: 'Check that the key is complete, without spaces, and that it was not replaced by another.',
        });
      } else setProblem(error as Error);
    };
    const list = async (): Promise<void> => {
      let wait = IDLE_MILLIS;
      try {
        const { results } = await readService<{ readonly results: readonly RunSummary[] }>(
          `results?limit=${String(MAX_RUNS)}`,
        );
        if (!isCurrent) return;
        setRuns(results);
        setProblem(undefined);
        if (results.some(isActive)) wait = ACTIVE_MILLIS;
      } catch (error) {
        if (isCurrent) report(error);
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
          to send one.{NEEDS_KEY && ' There, the browser asks for a name and a password: the password is the key.'} A
          service that was started with --monitor has a <a href={serviceUrl('dashboard')}>dashboard</a> of that folder.
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
          {NEEDS_KEY && (
            <button
              type="button"
              class="quiet"
              onClick={() => {
                onClose(undefined);
              }}
            >
              Forget the key
            </button>
          )}
        </div>
      </div>
      {problem !== undefined && <ProblemBox problem={problem} />}
      <Streams />
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
