import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import type { ReportSection } from '../../../src/document/report-document.ts';
import { Blocks, ProblemBox } from './blocks.tsx';
import type { EngineClient } from './client.ts';
import { factsOfRun, filesOfRun, sentencesOfRun } from './run-facts.ts';
import { fileOfService, followRun, NEEDS_KEY, readService, serviceUrl } from './service.ts';
import { save } from './take-away.tsx';

/** A run in the list of the service. */
export interface RunSummary {
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

/** A problem, as the page shows it. */
export interface ShownProblem {
  readonly message: string;
  readonly suggestion?: string | undefined;
}

/** The progress of a run, which the service sends as it happens. */
export function RunProgress({ id }: { readonly id: string }): JSX.Element {
  const [event, setEvent] = useState<{ readonly stage: string; readonly done: number; readonly total: number }>();
  useEffect(() => {
    const following = new AbortController();
    void followRun(id, setEvent, following.signal);
    return () => {
      following.abort();
    };
  }, [id]);
  const stage = event?.stage ?? 'waiting';
  const share = event === undefined || event.total < 2 ? undefined : event.done / event.total;
  return (
    <div class="status-line busy" role="status">
      <span>
        {stage}
        {share === undefined ? '' : `: ${String(Math.round(100 * share))}%`}
      </span>
      <progress value={share} aria-label={stage} />
    </div>
  );
}

/** The result of a run: its verdict, its most important numbers, and its files. */
export function RunDetails({ id }: { readonly id: string }): JSX.Element {
  const [run, setRun] = useState<Run>();
  const [problem, setProblem] = useState<ShownProblem>();
  useEffect(() => {
    readService<Run>(`results/${id}`).then(setRun, (error: unknown) => {
      setProblem(error as Error);
    });
  }, [id]);
  if (problem !== undefined) return <ProblemBox problem={problem} />;
  if (run === undefined) return <p class="hint">Loading …</p>;
  const { result, problem: failure, endpoint } = run;
  const passed = result?.['passed'];
  const sentences = result === null ? [] : sentencesOfRun(result);
  const facts = result === null ? [] : factsOfRun(endpoint, result);
  return (
    <div class="run-details">
      {failure !== null && (
        <ProblemBox problem={{ message: failure.detail ?? 'The run failed.', suggestion: failure.suggestion }} />
      )}
      {result === null && failure === null && <p class="hint">The run has no result yet.</p>}
      {typeof passed === 'boolean' && (
        <p class={`status ${passed ? 'pass' : 'fail'}`}>{passed ? '✓ Passed' : '✗ Failed'}</p>
      )}
      {sentences.length > 0 && (
        <ul>
          {sentences.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      {facts.length > 0 && (
        <dl class="facts">
          {facts.map(({ name, value }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {result !== null && <RunFiles id={id} endpoint={endpoint} />}
    </div>
  );
}

/** The report and the other files of a run. A link cannot carry a key, so with a key they are saved instead. */
function RunFiles({ id, endpoint }: { readonly id: string; readonly endpoint: string }): JSX.Element {
  const [problem, setProblem] = useState<ShownProblem>();
  const files = filesOfRun(endpoint);
  if (!NEEDS_KEY) {
    return (
      <p class="run-links">
        <a href={serviceUrl(`results/${id}`)} target="_blank" rel="noopener">
          Open the report
        </a>
        {files.map(({ path, title }) => (
          <a key={path} href={serviceUrl(`results/${id}/${path}`)}>
            {title}
          </a>
        ))}
      </p>
    );
  }
  const download = (path: string, accept: string, ending: string): void => {
    setProblem(undefined);
    fileOfService(`results/${id}${path}`, accept).then(
      (blob) => {
        save(blob, `${endpoint.slice(1)}-${id}.${ending}`);
      },
      (error: unknown) => {
        setProblem(error as Error);
      },
    );
  };
  return (
    <div class="run-links">
      <button
        type="button"
        class="quiet"
        onClick={() => {
          download('', 'text/html', 'html');
        }}
      >
        Save the report (HTML)
      </button>
      {files.map(({ path, title }) => (
        <button
          key={path}
          type="button"
          class="quiet"
          onClick={() => {
            download(`/${path}`, '*/*', path === 'model' ? 'zip' : 'csv');
          }}
        >
          {title}
        </button>
      ))}
      {problem !== undefined && <ProblemBox problem={problem} />}
    </div>
  );
}

/** What changed between two audits: the older one is the earlier. */
export function Comparison({
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
      const found = await Promise.all(ids.map((id) => readService<Run>(`results/${id}`)));
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
