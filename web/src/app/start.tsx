import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';

const SAMPLES = [
  {
    name: 'loans',
    title: 'Loans with scores',
    text: '3,000 invented applicants with a score, a decision and the outcome. Move the threshold and see the gaps change.',
  },
  {
    name: 'berkeley',
    title: 'Admissions of 1973',
    text: '4,526 applicants to the University of California, Berkeley. The gap reverses inside the departments.',
  },
  {
    name: 'cps-wages',
    title: 'Wages of 1985',
    text: '534 people of a US survey: who earns more than the median? Some groups are too small to compare.',
  },
] as const;

const EXAMPLE = [
  ['sex', 'age_group', 'score', 'approved', 'repaid'],
  ['female', 'under 30', '0.61', 'yes', '1'],
  ['male', '30 to 59', '0.42', 'no', '1'],
  ['female', '30 to 59', '0.35', 'no', '0'],
] as const;

interface StartProps {
  readonly onFile: (file: File) => void;
  readonly onSample: (name: string) => void;
  readonly isBusy: boolean;
}

/** The page before there is a file: what it does, where to drop a file, and samples to try. */
export function Start({ onFile, onSample, isBusy }: StartProps): JSX.Element {
  return (
    <div class="start">
      <div class="hero">
        <h1>Are decisions even-handed?</h1>
        <p class="lead">
          Drop a table of decisions. You get a verdict with intervals and pictures, what it means, and a report to take
          to your meeting.
        </p>
        <p class="private">
          <Lock /> The file stays on this computer. Nothing is uploaded: this page cannot send data to any host.
        </p>
      </div>
      <DropZone onFile={onFile} isBusy={isBusy} />
      <section aria-labelledby="samples">
        <h2 id="samples">Or try a sample</h2>
        <ul class="samples">
          {SAMPLES.map(({ name, title, text }) => (
            <li key={name}>
              <button
                type="button"
                class="sample"
                disabled={isBusy}
                onClick={() => {
                  onSample(name);
                }}
              >
                <strong>{title}</strong>
                <span>{text}</span>
              </button>
            </li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="needs" class="needs">
        <h2 id="needs">What the file needs</h2>
        <p>
          One row for each decision, and a header line with the names of the columns. Two columns are enough: the{' '}
          <strong>decision</strong> and a <strong>group</strong>, such as sex or age group. A <strong>score</strong> and
          the later <strong>outcome</strong> allow more questions. Other columns do not matter.
        </p>
        <div class="scroll" role="group" aria-label="An example" tabIndex={0}>
          <table>
            <caption>An example</caption>
            <thead>
              <tr>
                {EXAMPLE[0].map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {EXAMPLE.slice(1).map((row, index) => (
                <tr key={index}>
                  {row.map((text, column) => (
                    <td key={column}>{text}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        <p>
          CSV (commas, semicolons, tabs or bars; also .gz), Parquet, or one JSON object per line. From Excel: Save as,
          CSV UTF-8.
        </p>
      </section>
    </div>
  );
}

function Lock(): JSX.Element {
  return (
    <svg viewBox="0 0 16 16" width="15" height="15" aria-hidden="true">
      <path d="M4 7V5a4 4 0 1 1 8 0v2h1v8H3V7zm2 0h4V5a2 2 0 1 0-4 0z" fill="currentColor" fill-rule="evenodd" />
    </svg>
  );
}

/** A place to drop a file, which is also a button that opens the dialogue for files. */
export function DropZone({
  onFile,
  isBusy,
  isSmall = false,
}: {
  readonly onFile: (file: File) => void;
  readonly isBusy: boolean;
  readonly isSmall?: boolean;
}): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  return (
    <div
      class={`drop${isOver ? ' over' : ''}${isSmall ? ' small' : ''}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => {
        setOver(false);
      }}
      onDrop={(event) => {
        event.preventDefault();
        event.stopPropagation();
        setOver(false);
        const file = event.dataTransfer?.files[0];
        if (file !== undefined) onFile(file);
      }}
    >
      <button
        type="button"
        class={isSmall ? 'quiet' : 'primary'}
        disabled={isBusy}
        onClick={() => input.current?.click()}
      >
        {isSmall ? 'Open another file' : 'Choose a file'}
      </button>
      {!isSmall && <span>or drop it here</span>}
      <input
        ref={input}
        type="file"
        class="hidden-input"
        tabIndex={-1}
        aria-label="File with decisions"
        accept=".csv,.tsv,.txt,.gz,.parquet,.ndjson,.jsonl,text/csv"
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          event.currentTarget.value = '';
          if (file !== undefined) onFile(file);
        }}
      />
    </div>
  );
}
