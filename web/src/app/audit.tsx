import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import type { AuditResult, AuditSettings, CompareWith, LabelChoices, OpenedFile } from '../engine/protocol.ts';
import { DataTable, ProblemBox } from './blocks.tsx';
import { Cancelled, type EngineClient, type Progress } from './client.ts';
import { Attributes, DataNotes, NextSteps, Remarks, VerdictCard } from './result.tsx';
import { SettingsPanel } from './settings-panel.tsx';
import { fittingSettings, guessedSettings, linkOf, missingChoice, settingsOfLink } from './settings.ts';
import { DropZone, Start } from './start.tsx';
import { ComparePanel, TakeAway } from './take-away.tsx';
import { ThresholdPanel } from './threshold.tsx';

type Problem = { readonly message: string; readonly suggestion?: string | undefined };

/** A file that is open, with the choices for it. */
interface Work {
  readonly file: OpenedFile;
  readonly given: File | string;
  readonly settings: AuditSettings;
}

/** The page on which somebody audits a file. */
export function AuditPage({
  client,
  onFile,
}: {
  readonly client: EngineClient;
  /** Called with the file that was opened. */
  readonly onFile: (file: OpenedFile) => void;
}): JSX.Element {
  const [work, setWork] = useState<Work>();
  const [labels, setLabels] = useState<ReadonlyMap<string, LabelChoices>>(new Map());
  const [result, setResult] = useState<AuditResult>();
  const [problem, setProblem] = useState<Problem>();
  const [progress, setProgress] = useState<Progress>();
  const [compareWith, setCompareWith] = useState<CompareWith>();
  const run = useRef(0);
  const heading = useRef<HTMLHeadingElement>(null);

  const open = async (given: File | string, decimal?: ','): Promise<void> => {
    const own = ++run.current;
    client.cancel();
    setProblem(undefined);
    setProgress({ stage: 'Opening the file', done: 0, total: 1 });
    try {
      const file =
        typeof given === 'string'
          ? await client.ask('openSample', [given])
          : await client.ask('open', [given, decimal]);
      if (own !== run.current) return;
      const linked = settingsOfLink(location.hash);
      const fitting = linked && fittingSettings(linked, file);
      onFile(file);
      setLabels(new Map());
      setResult(undefined);
      setCompareWith(undefined);
      setWork({
        file,
        given,
        settings: { ...(fitting ?? guessedSettings(file, typeof given === 'string')), decimal },
      });
    } catch (error) {
      if (own === run.current && !(error instanceof Cancelled)) setProblem(error as Error);
    } finally {
      if (own === run.current) setProgress(undefined);
    }
  };

  const settings = work?.settings;
  const missing = settings === undefined ? undefined : missingChoice(settings);
  const undecided = settings === undefined ? undefined : unchosenLabel(settings, labels);

  useEffect(() => {
    if (work === undefined) return;
    void run_();
    async function run_(): Promise<void> {
      const { settings: chosen } = work as Work;
      const own = ++run.current;
      setProblem(undefined);
      try {
        const known = await readLabels(client, chosen, labels, setProgress);
        if (own !== run.current) return;
        if (known !== labels) setLabels(known);
        const completed = withGuessedLabels(chosen, known);
        if (completed !== chosen) {
          setWork({ ...(work as Work), settings: completed });
          return;
        }
        if (missingChoice(chosen) !== undefined || unchosenLabel(chosen, known) !== undefined) {
          setResult(undefined);
          return;
        }
        setProgress({ stage: 'Comparing the groups', done: 0, total: 1 });
        const found = await client.ask('audit', [chosen, compareWith], setProgress);
        if (own !== run.current) return;
        setResult(found);
        history.replaceState(null, '', linkOf(chosen));
      } catch (error) {
        if (own !== run.current || error instanceof Cancelled) return;
        setProblem(error as Error);
        if (compareWith === undefined) setResult(undefined);
      } finally {
        if (own === run.current) setProgress(undefined);
      }
    }
  }, [work, compareWith]);

  useEffect(() => {
    if (work !== undefined) heading.current?.focus();
  }, [work?.file]);

  // 'evenhand view FILE' offers the file to the page.
  useEffect(() => {
    if (document.documentElement.dataset['host'] !== 'view') return;
    offeredFile().then(
      (file) => {
        if (file !== undefined) void open(file);
      },
      (error: unknown) => {
        setProblem(error as Error);
      },
    );
  }, []);

  // A file can be dropped anywhere on the page.
  useEffect(() => {
    const allow = (event: DragEvent): void => {
      event.preventDefault();
    };
    const drop = (event: DragEvent): void => {
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file !== undefined) void open(file);
    };
    addEventListener('dragover', allow);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', allow);
      removeEventListener('drop', drop);
    };
  }, []);

  if (work === undefined || settings === undefined) {
    return (
      <>
        {problem !== undefined && <ProblemBox problem={problem} />}
        <Start
          onFile={(file) => void open(file)}
          onSample={(name) => void open(name)}
          isBusy={progress !== undefined}
        />
        <Status progress={progress} onCancel={undefined} />
      </>
    );
  }
  const change = (part: Partial<AuditSettings>): void => {
    setWork({ ...work, settings: { ...settings, ...part } });
  };
  return (
    <div class="audit">
      <aside class="side">
        <FileCard
          work={work}
          rows={result?.rows ?? work.file.rowCount}
          onFile={(file) => void open(file)}
          heading={heading}
        />
        <h2 class="narrow-only" id="settings" tabIndex={-1}>
          Settings
        </h2>
        <SettingsPanel
          file={work.file}
          settings={settings}
          labels={labels}
          onChange={change}
          onDecimal={(decimal) => void open(work.given, decimal)}
        />
      </aside>
      <div class="results" aria-live="polite" aria-busy={progress !== undefined}>
        <Status
          progress={progress}
          onCancel={() => {
            run.current++;
            client.cancel();
            setProgress(undefined);
            setProblem({ message: 'The work was stopped.', suggestion: 'Change a setting to start again.' });
          }}
        />
        {problem !== undefined && <ProblemBox problem={problem} />}
        {result === undefined && problem === undefined && (missing ?? undecided) !== undefined && (
          <div class="card waiting">
            <h2>One more choice</h2>
            <p>{missing ?? undecided}</p>
          </div>
        )}
        <a
          class="narrow-only to-settings"
          href="#settings"
          onClick={(event) => {
            event.preventDefault();
            document.getElementById('settings')?.focus();
            document.getElementById('settings')?.scrollIntoView();
          }}
        >
          Change the settings
        </a>
        {result !== undefined && (
          <div class={progress === undefined ? '' : 'stale'}>
            <h1 class="print-only">
              Audit of <bdi>{result.source}</bdi>
            </h1>
            <VerdictCard result={result} />
            <DataNotes result={result} />
            <NextSteps result={result} />
            <Attributes result={result} client={client} />
            {settings.score !== undefined && (
              <ThresholdPanel
                file={work.file}
                result={result}
                client={client}
                onUse={(scoreThreshold) => {
                  change({ scoreThreshold });
                }}
              />
            )}
            <ComparePanel file={work.file} result={result} compareWith={compareWith} onCompare={setCompareWith} />
            <TakeAway result={result} client={client} />
            <Remarks result={result} />
            <p class="made">
              {result.rows?.toLocaleString('en-US')} rows measured in {result.seconds.toFixed(1)} s on this computer.
            </p>
          </div>
        )}
      </div>
    </div>
  );
}

/** Returns the labels of the columns that decide, and reads those that are not known yet. */
async function readLabels(
  client: EngineClient,
  { yPred, yTrue }: AuditSettings,
  known: ReadonlyMap<string, LabelChoices>,
  onProgress: (progress: Progress) => void,
): Promise<ReadonlyMap<string, LabelChoices>> {
  const names = [yPred, yTrue].filter((name) => name !== undefined && !known.has(name)) as string[];
  if (names.length === 0) return known;
  const all = new Map(known);
  for (const name of names) all.set(name, await client.ask('labels', [name], onProgress));
  return all;
}

/** Fills in positive labels that can be guessed. */
function withGuessedLabels(settings: AuditSettings, labels: ReadonlyMap<string, LabelChoices>): AuditSettings {
  const guess = (column: string | undefined, chosen: string | undefined): string | undefined => {
    const found = column === undefined ? undefined : labels.get(column);
    return chosen ?? (found?.isNeeded === true ? found.guess : undefined);
  };
  const positiveLabel = guess(settings.yPred, settings.positiveLabel);
  const yTruePositiveLabel = guess(settings.yTrue, settings.yTruePositiveLabel);
  return positiveLabel === settings.positiveLabel && yTruePositiveLabel === settings.yTruePositiveLabel
    ? settings
    : { ...settings, positiveLabel, yTruePositiveLabel };
}

/** Returns what to choose if a column needs a positive label. */
function unchosenLabel(settings: AuditSettings, labels: ReadonlyMap<string, LabelChoices>): string | undefined {
  const isOpen = (column: string | undefined, chosen: string | undefined): boolean =>
    column !== undefined && chosen === undefined && labels.get(column)?.isNeeded === true;
  if (isOpen(settings.yPred, settings.positiveLabel)) {
    return `Which value of '${settings.yPred ?? ''}' is the positive decision? Choose it on this page under 'What was decided?'.`;
  }
  if (isOpen(settings.yTrue, settings.yTruePositiveLabel)) {
    return `Which value of '${settings.yTrue ?? ''}' is the positive outcome? Choose it on this page under 'What turned out to be true?'.`;
  }
  return undefined;
}

function Status({
  progress,
  onCancel,
}: {
  readonly progress: Progress | undefined;
  readonly onCancel: (() => void) | undefined;
}): JSX.Element {
  const [isLong, setLong] = useState(false);
  const isBusy = progress !== undefined;
  useEffect(() => {
    if (!isBusy) return undefined;
    const timer = setTimeout(() => {
      setLong(true);
    }, 400);
    return () => {
      clearTimeout(timer);
      setLong(false);
    };
  }, [isBusy]);
  if (progress === undefined || !isLong) return <div class="status-line" role="status" />;
  const share = progress.total > 1 ? progress.done / progress.total : undefined;
  return (
    <div class="status-line busy" role="status">
      <span>
        {progress.stage}
        {share === undefined ? ' …' : `: ${String(Math.round(100 * share))}%`}
      </span>
      <progress value={share} max={1} aria-label={progress.stage} />
      {onCancel !== undefined && (
        <button type="button" class="quiet" onClick={onCancel}>
          Stop
        </button>
      )}
    </div>
  );
}

function FileCard({
  work: { file },
  rows,
  onFile,
  heading,
}: {
  readonly work: Work;
  readonly rows: number | null;
  readonly onFile: (file: File) => void;
  readonly heading: { current: HTMLHeadingElement | null };
}): JSX.Element {
  return (
    <div class="card file">
      <h1 ref={heading} tabIndex={-1}>
        <bdi>{file.name}</bdi>
      </h1>
      <p class="hint">
        {rows === null ? 'Many' : rows.toLocaleString('en-US')} rows, {file.columns.length.toLocaleString('en-US')}{' '}
        columns, {file.format}, {sizeText(file.bytes)}. On this computer only.
      </p>
      <details>
        <summary>First rows</summary>
        <DataTable
          table={{
            caption: 'First rows',
            columns: file.columns.map(({ name, kind }) => ({ name, isNumber: kind === 'numbers' })),
            rows: file.preview,
          }}
        />
      </details>
      <DropZone onFile={onFile} isBusy={false} isSmall />
    </div>
  );
}

function sizeText(bytes: number): string {
  if (bytes < 1000) return `${String(bytes)} bytes`;
  const [size, unit] = bytes < 1e6 ? [bytes / 1e3, 'kB'] : [bytes / 1e6, 'MB'];
  return `${size.toLocaleString('en-US', { maximumSignificantDigits: 3 })} ${unit}`;
}

/** Returns the file that the program offers from this computer; undefined if it offers none. */
async function offeredFile(): Promise<File | undefined> {
  const answer = await fetch('./offered');
  if (answer.status === 204) return undefined;
  if (!answer.ok) throw new Error('The file that was given to evenhand view cannot be read any more.');
  const name = decodeURIComponent(answer.headers.get('x-file-name') ?? 'data.csv');
  return new File([await answer.blob()], name);
}
