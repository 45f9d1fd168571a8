import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

import type { GroupConfusion } from '../../../src/training/pareto/held-out-scores.ts';
import type { SweepPoint } from '../engine/training-protocol.ts';
import { DataTable, Explained } from './blocks.tsx';
import { RateBars, shortNumber, useNewest } from './threshold.tsx';
import type { Training } from './training-client.ts';

/** The threshold of the points. */
const DEFAULT_THRESHOLD = 0.5;

interface PointDetailsProps {
  readonly point: SweepPoint;
  /** The point without a penalty. */
  readonly base: SweepPoint | undefined;
  /** The index of the point's network. */
  readonly network: number;
  readonly training: Training;
}

/** The numbers of a network, and its decisions by group at a threshold that can be moved. */
export function PointDetails({ point, base, network, training }: PointDetailsProps): JSX.Element {
  const { eta } = point;
  const [threshold, setThreshold] = useState(DEFAULT_THRESHOLD);
  const judged = useNewest(
    async () => ({ network, ...(await training.judge(network, threshold)) }),
    [training, network, threshold],
  );
  // Until the worker has answered, the numbers are those of the point.
  const shown = judged?.network === network ? judged : undefined;
  const accuracy = shown?.accuracy ?? point.accuracy;
  const gap = shown?.dpDiff ?? point.dp_diff;
  const odds = shown?.eoDiff ?? point.eo_diff;
  const isCompared = base !== undefined && base.eta !== eta && threshold === DEFAULT_THRESHOLD;
  return (
    <div class="point-details">
      <div role="status">
        <h3>Eta {eta}</h3>
        <dl class="facts">
          <div>
            <dt>Accuracy</dt>
            <dd>
              {roundedText(accuracy)}
              <small>{rangeText(shown?.accuracyCi ?? point.accuracy_ci)}</small>
            </dd>
          </div>
          <div>
            <dt>Selection rates differ by</dt>
            <dd>
              {roundedText(gap)}
              <small>{rangeText(shown === undefined ? point.dp_diff_ci : shown.dpDiffCi)}</small>
            </dd>
          </div>
          <div>
            <dt>True and false positive rates differ by</dt>
            <dd>
              {roundedText(odds)}
              <small>{rangeText(shown?.eoDiffCi ?? null)}</small>
            </dd>
          </div>
        </dl>
        {isCompared && (
          <p>
            Against eta 0: {changeText(point.accuracy - base.accuracy)} percentage points of accuracy, and{' '}
            {changeText(point.dp_diff - base.dp_diff)} percentage points of gap.
          </p>
        )}
      </div>
      <div class="threshold">
        <label for="point-threshold">
          Threshold <output>{shortNumber(threshold)}</output>
        </label>
        <input
          id="point-threshold"
          type="range"
          min={0}
          max={1}
          step={0.005}
          value={threshold}
          onInput={(event) => {
            setThreshold(event.currentTarget.valueAsNumber);
          }}
        />
        <p class="hint">
          A row with a probability of at least the threshold has a positive decision. The points of the picture are at
          0.5.
        </p>
        <button
          type="button"
          class="quiet"
          disabled={threshold === DEFAULT_THRESHOLD}
          onClick={() => {
            setThreshold(DEFAULT_THRESHOLD);
          }}
        >
          Back to 0.5
        </button>
      </div>
      {shown !== undefined && (
        <>
          <RateBars
            groups={shown.groups.map(({ group, n, selectionRate }) => ({ label: group, n, value: selectionRate }))}
          />
          <div class="confusion">
            <DataTable
              table={{
                caption: `Decisions at threshold ${shortNumber(shown.threshold)}, on the rows judged on`,
                columns: [
                  { name: 'Group' },
                  ...['Rows', 'True positives', 'False positives', 'True negatives', 'False negatives'].map(number),
                  ...['Selection rate', 'True positive rate', 'False positive rate'].map(number),
                ],
                rows: [...shown.groups, { ...shown.all, group: 'All rows' }].map(confusionRow),
              }}
            />
          </div>
          <Explained label="Can I choose the threshold here?">
            You can compare thresholds. A threshold that looks best on these rows usually looks a little worse on
            others, so measure the decisions again on rows that were not used to choose it.
          </Explained>
        </>
      )}
    </div>
  );
}

function number(name: string): { readonly name: string; readonly isNumber: true } {
  return { name, isNumber: true };
}

function confusionRow(own: GroupConfusion): string[] {
  const counts = [own.n, own.truePositives, own.falsePositives, own.trueNegatives, own.falseNegatives];
  const rates = [own.selectionRate, own.truePositiveRate, own.falsePositiveRate];
  return [own.group, ...counts.map((count) => count.toLocaleString('en-US')), ...rates.map(roundedText)];
}

/** Returns a number with four digits, or 'undefined'. */
export function roundedText(value: number | null): string {
  return value === null || Number.isNaN(value) ? 'undefined' : value.toFixed(4);
}

function rangeText(range: readonly [number, number] | null): string {
  return range === null ? '' : range.map(roundedText).join(' to ');
}

function changeText(change: number): string {
  return `${change > 0 ? '+' : change < 0 ? '−' : ''}${Math.abs(100 * change).toFixed(1)}`;
}
