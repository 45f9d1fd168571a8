import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import type { AttributeView, AuditResult, MetricView } from '../engine/protocol.ts';
import { adviceFor, hundredOf, mainMetric } from './advice.ts';
import { Blocks, DataTable, Explained, Picture, ProblemBox } from './blocks.tsx';
import { Cancelled, type EngineClient } from './client.ts';
import { helpOf, TERMS } from './help.ts';
import { useDark } from './theme.ts';

const SIGNS = { pass: '✓', fail: '✗', undefined: '?', none: '–' } as const;

/** Returns the verdict in a few words. */
function titleOf({ verdict, gates }: AuditResult): string {
  const open = gates.filter(({ status }) => status !== 'pass').length;
  const total = gates.length;
  switch (verdict.kind) {
    case 'pass':
      return total === 1 ? 'Passed: the limit holds' : `Passed: all ${String(total)} limits hold`;
    case 'fail':
      return total === 1
        ? 'Failed: the limit does not hold'
        : `Failed: ${String(open)} of ${String(total)} limits ${open === 1 ? 'does' : 'do'} not hold`;
    case 'undefined':
      return 'Not decided: too little data';
    case 'none':
      return 'Measured, not judged';
  }
}

/** The verdict: whether the limits hold, why, and what to do. */
export function VerdictCard({ result }: { readonly result: AuditResult }): JSX.Element {
  const { verdict, gates, attributes, settings } = result;
  const outcome = settings.positiveLabel === undefined ? 'the positive decision' : `“${settings.positiveLabel}”`;
  return (
    <section class={`verdict ${verdict.kind}`} aria-labelledby="verdict-title">
      <h2 id="verdict-title">
        <span class="sign" aria-hidden="true">
          {SIGNS[verdict.kind]}
        </span>
        {titleOf(result)}
      </h2>
      {gates.length === 0 && <p>{verdict.sentences.join(' ')} Tick a limit in the settings to get a verdict.</p>}
      <ul class="plain">
        {attributes.map((attribute) => {
          const metric = mainMetric(attribute);
          const sentence = metric === undefined ? undefined : hundredOf(metric, outcome);
          if (metric === undefined) return null;
          return (
            <li key={attribute.name}>
              <strong>
                By <bdi>{attributeName(attribute.name)}</bdi>:
              </strong>{' '}
              {sentence ??
                (metric.undefinedReason === null
                  ? `${metric.title} ${metric.valueText}.`
                  : `Not defined: ${metric.undefinedReason}.`)}
            </li>
          );
        })}
      </ul>
      {gates.length > 0 && (
        <div class="scroll" role="group" aria-label="Limits" tabIndex={0}>
          <table class="gates stacked">
            <caption class="visually-hidden">Limits and values</caption>
            <thead>
              <tr>
                <th scope="col">Limit</th>
                <th scope="col">Groups</th>
                <th scope="col" class="number">
                  Value
                </th>
                <th scope="col">Interval</th>
                <th scope="col">Verdict</th>
              </tr>
            </thead>
            <tbody>
              {gates.map((gate) => {
                const metric = attributes
                  .find(({ name }) => name === gate.attribute)
                  ?.metrics.find((one) => one.metric === gate.metric);
                return (
                  <tr key={`${gate.attribute} ${gate.metric}`}>
                    <th scope="row">
                      {metric?.title ?? gate.metric} {gate.comparator === '>=' ? 'at least' : 'at most'}{' '}
                      {gate.threshold}
                    </th>
                    <td data-name="Groups">
                      <bdi>{attributeName(gate.attribute)}</bdi>
                    </td>
                    <td class="number" data-name="Value">
                      {metric?.valueText}
                    </td>
                    <td data-name="Interval">
                      <IntervalBar metric={metric} threshold={gate.threshold} />
                    </td>
                    <td class={`status ${gate.status ?? ''}`} data-name="Verdict">
                      {gate.status === 'pass' ? 'pass' : gate.status === 'fail' ? 'fail' : 'undefined'}
                      {gate.straddles && <small> could change</small>}
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
      {/* After the sentences of the limits, a pass points to its notes. */}
      {gates.length > 0 && verdict.sentences.slice(gates.length).map((sentence) => <p key={sentence}>{sentence}</p>)}
      <details class="sentences">
        <summary>The verdict in full sentences</summary>
        <ul>
          {verdict.sentences.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      </details>
    </section>
  );
}

/** Returns the name of an attribute for people: the columns of a combination are joined by "and". */
export function attributeName(name: string): string {
  return name.split('||').join(' and ');
}

/** Shows an interval, the value and the limit on one line. */
function IntervalBar({
  metric,
  threshold,
}: {
  readonly metric: MetricView | undefined;
  readonly threshold: number | null;
}): JSX.Element | null {
  if (metric?.value === null || metric === undefined) return null;
  const { value, ci } = metric;
  const [low, high] = [ci?.[0] ?? value, ci?.[1] ?? value];
  const most = Math.max(high, threshold ?? 0, value) * 1.15 || 1;
  const at = (number: number): string => `${String(Math.min(100, Math.max(0, (100 * number) / most)))}%`;
  return (
    <span class="interval-cell">
      <span class="interval" aria-hidden="true">
        <span class="range" style={{ left: at(low), width: `calc(${at(high)} - ${at(low)})` }} />
        {threshold !== null && <span class="mark" style={{ left: at(threshold) }} />}
        <span class="dot" style={{ left: at(value) }} />
      </span>
      <small>{metric.ciText ?? 'none'}</small>
    </span>
  );
}

/** What to consider about the data before the numbers are quoted. */
export function DataNotes({ result: { notes } }: { readonly result: AuditResult }): JSX.Element | null {
  if (notes.length === 0) return null;
  return (
    <section class="card" aria-labelledby="data-notes">
      <h2 id="data-notes">Before you quote these values</h2>
      <ul>
        {notes.map((text) => (
          <li key={text}>{text}.</li>
        ))}
      </ul>
      <p>On this page, choose the column in the settings: More choices, Rows of the same person or thing.</p>
    </section>
  );
}

/** What to do next. */
export function NextSteps({ result }: { readonly result: AuditResult }): JSX.Element | null {
  const advice = adviceFor(result);
  if (advice.length === 0) return null;
  return (
    <section class="card" aria-labelledby="next">
      <h2 id="next">What to do next</h2>
      <ol class="advice">
        {advice.map(({ title, text }) => (
          <li key={title}>
            <strong>{title}.</strong> {text}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** The addresses of pictures, by attribute. Those for paper are light. */
interface Drawn {
  readonly screen: readonly (readonly string[])[];
  readonly paper: readonly (readonly string[])[];
}

function urlsOf(pictures: readonly string[]): string[] {
  return pictures.map((svg) => URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' })));
}

/** The pictures, values and details of every attribute. */
export function Attributes({
  result,
  client,
}: {
  readonly result: AuditResult;
  readonly client: EngineClient;
}): JSX.Element {
  const [area, width] = useWidth();
  const isDark = useDark();
  const [drawn, setDrawn] = useState<Drawn>({ screen: [], paper: [] });
  const [problem, setProblem] = useState<Error>();
  const urls = useRef<readonly string[]>([]);
  useEffect(() => {
    if (width === 0) return undefined;
    let isCurrent = true;
    const draw = async (): Promise<void> => {
      const charts = await client.ask('draw', [{ width, isDark }]);
      if (!isCurrent) return;
      const old = urls.current;
      const screen = charts.map(urlsOf);
      urls.current = screen.flat();
      setDrawn({ screen, paper: isDark ? [] : screen });
      // The page may still be loading the earlier pictures.
      setTimeout(() => {
        for (const url of old) URL.revokeObjectURL(url);
      }, 5000);
      if (isDark) await drawPaper(screen);
    };
    const drawPaper = async (screen: readonly (readonly string[])[]): Promise<void> => {
      const charts = await client.ask('draw', [{ width, isDark: false }]);
      if (!isCurrent) return;
      const paper = charts.map(urlsOf);
      urls.current = [...urls.current, ...paper.flat()];
      setDrawn({ screen, paper });
    };
    draw().catch((error: unknown) => {
      if (isCurrent && !(error instanceof Cancelled)) setProblem(error as Error);
    });
    return () => {
      isCurrent = false;
    };
  }, [result, width, isDark, client]);
  return (
    <div ref={area}>
      {problem !== undefined && <ProblemBox problem={problem} />}
      {result.attributes.map((attribute, index) => (
        <AttributeSection
          key={attribute.name}
          attribute={attribute}
          charts={drawn.screen[index] ?? []}
          paper={drawn.paper[index] ?? []}
          isWeighted={result.settings.sampleWeight !== undefined}
        />
      ))}
    </div>
  );
}

/** Returns the width that charts have, in steps, so that they are not drawn again at each pixel. */
function useWidth(): [area: { current: HTMLDivElement | null }, width: number] {
  const area = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = area.current;
    if (element === null) return undefined;
    const measure = (): void => {
      const padding = element.clientWidth < 600 ? 34 : 50;
      setWidth(Math.max(260, Math.min(960, 10 * Math.floor((element.clientWidth - padding) / 10))));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => {
      observer.disconnect();
    };
  }, []);
  return [area, width];
}

function AttributeSection({
  attribute,
  charts,
  paper,
  isWeighted,
}: {
  readonly attribute: AttributeView;
  readonly charts: readonly string[];
  readonly paper: readonly string[];
  readonly isWeighted: boolean;
}): JSX.Element {
  const { name, metrics, controlWarnings, section } = attribute;
  const warnings = [...new Set(metrics.flatMap((metric) => metric.warnings))];
  const excluded = new Map(
    metrics.flatMap((metric) => metric.excluded.map((group) => [`${group.label} ${group.reason}`, group] as const)),
  );
  const dropped = Math.max(0, ...metrics.map(({ nDropped }) => nDropped));
  const detectable = metrics[0]?.minimumDetectable ?? null;
  return (
    <section class="card attribute" aria-label={`By ${attributeName(name)}`}>
      <h2>
        By <bdi>{attributeName(name)}</bdi>
      </h2>
      {controlWarnings.length > 0 && (
        <div class="note strong" role="note">
          <p>
            <strong>The total can mislead.</strong>
          </p>
          <ul>
            {controlWarnings.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </div>
      )}
      <div class="charts">
        {attribute.charts.map(({ title, description }, index) => (
          <figure key={description}>
            <figcaption>{title}</figcaption>
            <Picture screen={charts[index]} paper={paper[index]} alt={description} />
          </figure>
        ))}
      </div>
      <dl class="metrics">
        {metrics.map((metric) => (
          <MetricRow key={metric.metric} metric={metric} />
        ))}
      </dl>
      {detectable !== null && (
        <p class="enough">
          <strong>Is it enough data?</strong> Gaps in the first measure below {percentage(detectable)} percentage points
          could stay unseen in data of this size. <Explained label="What does that mean?">{TERMS.detectable}</Explained>
        </p>
      )}
      {(excluded.size > 0 || dropped > 0) && (
        <div class="note">
          <p>
            <strong>Not compared</strong>
          </p>
          <ul>
            {[...excluded.values()].map(({ label, n, reason }) => (
              <li key={label + reason}>
                <bdi>{label}</bdi> ({n.toLocaleString('en-US')} {n === 1 ? 'row' : 'rows'}
                {isWeighted ? ', weighted' : ''}): {reason}
              </li>
            ))}
            {dropped > 0 && (
              <li>
                {dropped.toLocaleString('en-US')} {dropped === 1 ? 'row' : 'rows'} without a value that a measure needs
              </li>
            )}
          </ul>
          {excluded.size > 0 && <Explained label="Why are groups left out?">{TERMS.excluded}</Explained>}
        </div>
      )}
      {warnings.length > 0 && (
        <div class="note">
          <p>
            <strong>Before you quote these values</strong>
          </p>
          <ul>
            {warnings.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </div>
      )}
      {section !== undefined && (
        <details class="all-numbers">
          <summary>All numbers by {attributeName(name)}</summary>
          <Blocks blocks={section.blocks} />
        </details>
      )}
    </section>
  );
}

function percentage(share: number): string {
  return String(Number((100 * share).toPrecision(2)));
}

function MetricRow({ metric }: { readonly metric: MetricView }): JSX.Element {
  const help = helpOf(metric.metric);
  return (
    <div class="metric">
      <dt>
        <span>{help?.question ?? metric.title}</span>
        <Explained label={metric.title}>
          {help?.meaning ?? ''} {metric.ci !== null && TERMS.interval}
        </Explained>
      </dt>
      <dd>
        {metric.undefinedReason === null ? (
          <>
            <b>{metric.valueText}</b>
            {metric.ciText !== null && <small>interval {metric.ciText}</small>}
          </>
        ) : (
          <small>not defined: {metric.undefinedReason}</small>
        )}
      </dd>
    </div>
  );
}

/** Everything else that a report says: how labels were read, what changed, and how to read it. */
export function Remarks({ result }: { readonly result: AuditResult }): JSX.Element {
  const labels = result.labels?.blocks.flatMap((block) => (block.kind === 'table' ? [block] : [])) ?? [];
  return (
    <section class="card" aria-labelledby="reading">
      <h2 id="reading">How to read this</h2>
      <ul>
        {result.howToRead.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      {labels.length > 0 && (
        <details>
          <summary>How labels were read</summary>
          {labels.map((table) => (
            <DataTable key={table.caption} table={table} />
          ))}
        </details>
      )}
    </section>
  );
}
