import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import type { AuditResult, OpenedFile } from '../engine/protocol.ts';
import type { EngineClient } from './client.ts';
import { attributeName } from './result.tsx';

interface ThresholdProps {
  readonly file: OpenedFile;
  readonly result: AuditResult;
  readonly client: EngineClient;
  readonly onUse: (threshold: number) => void;
}

/** A slider for the threshold of scores. Rates and gaps follow it at once. */
export function ThresholdPanel({ file, result, client, onUse }: ThresholdProps): JSX.Element | null {
  const { settings } = result;
  const used = settings.scoreThreshold ?? 0.5;
  const range = file.columns.find(({ name }) => name === settings.score)?.range;
  const [attribute, setAttribute] = useState(result.attributes[0]?.name ?? '');
  const [threshold, setThreshold] = useState(used);
  const view = useNewest(() => client.ask('threshold', [attribute, threshold]), [attribute, threshold, result]);

  if (settings.score === undefined || range === null || range === undefined) return null;
  const [low, high] = [Math.min(range[0], used), Math.max(range[1], used)];
  const step = (high - low) / 200 || 0.01;
  const gap = view?.metrics.find(({ metric }) => metric === 'demographic_parity_difference');
  const odds = view?.metrics.find(({ metric }) => metric === 'equalized_odds_difference');
  const accuracy = view?.metrics.find(({ metric }) => metric === 'accuracy_parity_difference');
  const groups = gap?.measures[0]?.groups ?? [];
  return (
    <section class="card" aria-labelledby="threshold-title">
      <h2 id="threshold-title">What if the threshold were different?</h2>
      <p class="screen-only">
        A score of at least the threshold is a positive decision. Move it, and see how often each group gets the
        positive decision.
      </p>
      <div class="threshold">
        <label for="threshold-slider">
          Threshold <output>{shortNumber(threshold)}</output>
        </label>
        <input
          id="threshold-slider"
          type="range"
          min={low}
          max={high}
          step={step}
          value={threshold}
          onInput={(event) => {
            setThreshold(Number(event.currentTarget.valueAsNumber.toPrecision(6)));
          }}
        />
        {result.attributes.length > 1 && (
          <label class="field" for="threshold-attribute">
            <span>Groups</span>
            <select
              id="threshold-attribute"
              value={attribute}
              onChange={(event) => {
                setAttribute(event.currentTarget.value);
              }}
            >
              {result.attributes.map(({ name }) => (
                <option key={name} value={name}>
                  {attributeName(name)}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      <RateBars groups={groups} />
      <dl class="facts">
        {[gap, odds, accuracy].map(
          (metric) =>
            metric !== undefined && (
              <div key={metric.metric}>
                <dt>{metric.title}</dt>
                <dd>{metric.undefinedReason === null ? metric.valueText : 'undefined'}</dd>
              </div>
            ),
        )}
      </dl>
      <button
        type="button"
        class="quiet"
        disabled={threshold === used}
        onClick={() => {
          onUse(threshold);
        }}
      >
        Use {shortNumber(threshold)} for the audit
      </button>
    </section>
  );
}

/**
 * Measures again after each change, and returns the newest measurement. While one value is measured, a slider moves on:
 * only the last value is measured next.
 */
export function useNewest<T>(measure: () => Promise<T>, changes: readonly unknown[]): T | undefined {
  const [measured, setMeasured] = useState<T>();
  const wanted = useRef<(() => Promise<T>) | undefined>(undefined);
  const isRunning = useRef(false);
  const follow = async (): Promise<void> => {
    if (isRunning.current) return;
    isRunning.current = true;
    try {
      for (let next = wanted.current; next !== undefined; next = wanted.current) {
        wanted.current = undefined;
        setMeasured(await next());
      }
    } catch {
      setMeasured(undefined);
    } finally {
      isRunning.current = false;
    }
  };
  useEffect(() => {
    wanted.current = measure;
    void follow();
  }, changes);
  return measured;
}

/** Shows the selection rates of groups as bars. */
export function RateBars({
  groups,
}: {
  readonly groups: readonly { readonly label: string; readonly n: number; readonly value: number | null }[];
}): JSX.Element {
  return (
    <div class="rates" role="list" aria-label="Selection rates at this threshold">
      {groups.map(({ label, value, n }) => (
        <div class="rate" role="listitem" key={label}>
          <span class="name">
            <bdi>{label}</bdi> <small>{n.toLocaleString('en-US')}</small>
          </span>
          <span class="bar" aria-hidden="true">
            <span style={{ width: `${String(100 * (value ?? 0))}%` }} />
          </span>
          <span class="value">{value === null ? 'undefined' : `${(100 * value).toFixed(1)}%`}</span>
        </div>
      ))}
    </div>
  );
}

/** Returns a number with three significant digits. */
export function shortNumber(value: number): string {
  return String(Number(value.toPrecision(3)));
}
