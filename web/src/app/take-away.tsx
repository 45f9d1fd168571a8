import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';

import type { AuditResult, CompareWith, ExportKind, OpenedFile } from '../engine/protocol.ts';
import { Blocks, ProblemBox } from './blocks.tsx';
import type { EngineClient } from './client.ts';
import { linkOf } from './settings.ts';

const EXPORTS: readonly { readonly kind: ExportKind | 'png'; readonly title: string; readonly text: string }[] = [
  { kind: 'html', title: 'Report (HTML)', text: 'to open, print or send' },
  { kind: 'md', title: 'Report (Markdown)', text: 'for wikis and tickets' },
  { kind: 'json', title: 'Result (JSON)', text: 'to compare with later' },
  { kind: 'csv', title: 'Table (CSV)', text: 'for spreadsheets' },
  { kind: 'svg', title: 'Pictures (SVG)', text: 'sharp at every size' },
  { kind: 'png', title: 'Pictures (PNG)', text: 'for slides' },
];

/** Saves a file, as a download of the browser. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => {
    URL.revokeObjectURL(link.href);
  }, 60_000);
}

/** Draws an SVG picture as PNG, with two pixels for each of its pixels. */
async function toPng(svg: Blob): Promise<Blob> {
  const url = URL.createObjectURL(svg);
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = 2 * image.naturalWidth;
    canvas.height = 2 * image.naturalHeight;
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => {
      canvas.toBlob((blob) => {
        if (blob === null) reject(new Error('The picture is too large for a PNG file. Save it as SVG.'));
        else resolve(blob);
      }, 'image/png');
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** What somebody takes away: reports, tables, pictures, the command, the gates, and a link to the settings. */
export function TakeAway({
  result,
  client,
}: {
  readonly result: AuditResult;
  readonly client: EngineClient;
}): JSX.Element {
  const [problem, setProblem] = useState<{ readonly message: string; readonly suggestion?: string | undefined }>();
  const [busy, setBusy] = useState<string>();
  const base = result.source.replace(/\.(csv|tsv|txt|gz|parquet|ndjson|jsonl)+$/i, '');
  const run = async (kind: ExportKind | 'png'): Promise<void> => {
    setProblem(undefined);
    setBusy(kind);
    try {
      const blob = await client.ask('export', [kind === 'png' ? 'svg' : kind]);
      save(kind === 'png' ? await toPng(blob) : blob, `${base}-fairness.${kind}`);
    } catch (error) {
      setProblem(error as Error);
    } finally {
      setBusy(undefined);
    }
  };
  return (
    <section class="card take-away" aria-labelledby="take-away">
      <h2 id="take-away" class="screen-only">
        Take it with you
      </h2>
      <ul class="exports">
        {EXPORTS.map(({ kind, title, text }) => (
          <li key={kind}>
            <button
              type="button"
              disabled={busy !== undefined}
              onClick={() => {
                void run(kind);
              }}
            >
              <strong>{title}</strong>
              <small>{busy === kind ? 'being written …' : text}</small>
            </button>
          </li>
        ))}
      </ul>
      {problem !== undefined && <ProblemBox problem={problem} />}
      <h3>The same audit on the command line</h3>
      <Copyable text={result.command} label="the command" />
      {result.gateFile !== '' && (
        <>
          <h3>The limits as a file of gates</h3>
          <p class="hint">
            Save it as <code>gates.yml</code> and add <code>--gate gates.yml</code> in continuous integration.
          </p>
          <Copyable text={result.gateFile} label="the gates" />
        </>
      )}
      <div class="screen-only">
        <h3>A link to these settings</h3>
        <p class="hint">The link names columns and limits. It does not contain any row: the receiver needs the file.</p>
        <Copyable text={linkTo(result)} label="the link" />
      </div>
    </section>
  );
}

function linkTo({ settings }: AuditResult): string {
  return location.href.replace(/#.*$/, '') + linkOf(settings);
}

/** A text with a button that copies it. */
export function Copyable({ text, label }: { readonly text: string; readonly label: string }): JSX.Element {
  const [remark, setRemark] = useState<string>();
  const area = useRef<HTMLPreElement>(null);
  const copy = async (): Promise<void> => {
    // Pages of plain HTTP have no clipboard; somebody can copy the selection there.
    const isCopied =
      isSecureContext &&
      (await navigator.clipboard.writeText(text).then(
        () => true,
        () => false,
      ));
    if (!isCopied && area.current !== null) getSelection()?.selectAllChildren(area.current);
    setRemark(isCopied ? 'Copied' : 'Selected: press Ctrl+C');
    setTimeout(() => {
      setRemark(undefined);
    }, 3000);
  };
  return (
    <div class="copyable">
      <pre ref={area} tabIndex={0} aria-label={label}>
        {text}
      </pre>
      <button type="button" class="quiet" aria-label={`Copy ${label}`} onClick={() => void copy()}>
        {remark ?? 'Copy'}
      </button>
    </div>
  );
}

interface CompareProps {
  readonly file: OpenedFile;
  readonly result: AuditResult;
  readonly compareWith: CompareWith | undefined;
  readonly onCompare: (compareWith: CompareWith | undefined) => void;
}

/** Compares the result with another file, another column of decisions, or a result that was saved before. */
export function ComparePanel({ file, result, compareWith, onCompare }: CompareProps): JSX.Element {
  const { settings, changes } = result;
  const others = file.columns.filter(
    ({ name, distinct }) =>
      distinct >= 2 &&
      distinct <= 20 &&
      ![settings.yPred, settings.score, settings.yTrue, ...settings.sensitive].includes(name),
  );
  return (
    <section class={`card${changes === undefined ? ' screen-only' : ''}`} aria-labelledby="compare">
      <h2 id="compare">Compare</h2>
      <p>
        What changed against an earlier result, another file with the same columns, or the decisions of another model?
      </p>
      <div class="compare">
        <FileChoice
          label="Earlier result (JSON)"
          accept=".json,application/json"
          onFile={(chosen) => {
            onCompare({ kind: 'result', file: chosen });
          }}
        />
        <FileChoice
          label="Another file"
          accept=".csv,.tsv,.txt,.gz,.parquet,.ndjson,.jsonl"
          onFile={(chosen) => {
            onCompare({ kind: 'file', file: chosen });
          }}
        />
        {others.length > 0 && settings.yPred !== undefined && (
          <label class="field" for="other-model">
            <span>Decisions of another model</span>
            <select
              id="other-model"
              value={compareWith?.kind === 'column' ? compareWith.column : ''}
              onChange={(event) => {
                const column = event.currentTarget.value;
                onCompare(column === '' ? undefined : { kind: 'column', column });
              }}
            >
              <option value="">None</option>
              {others.map(({ name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        )}
        {compareWith !== undefined && (
          <button
            type="button"
            class="quiet"
            onClick={() => {
              onCompare(undefined);
            }}
          >
            Stop comparing
          </button>
        )}
      </div>
      {compareWith !== undefined && changes !== undefined && (
        <div class="changes">
          <p>
            Before: <bdi>{compareWith.kind === 'column' ? compareWith.column : compareWith.file.name}</bdi>. Now:{' '}
            <bdi>{compareWith.kind === 'column' ? settings.yPred : result.source}</bdi>.
          </p>
          <Blocks blocks={changes.blocks} />
        </div>
      )}
    </section>
  );
}

function FileChoice({
  label,
  accept,
  onFile,
}: {
  readonly label: string;
  readonly accept: string;
  readonly onFile: (file: File) => void;
}): JSX.Element {
  return (
    <label class="button-like">
      {label}
      <input
        type="file"
        accept={accept}
        onChange={(event) => {
          const chosen = event.currentTarget.files?.[0];
          event.currentTarget.value = '';
          if (chosen !== undefined) onFile(chosen);
        }}
      />
    </label>
  );
}
