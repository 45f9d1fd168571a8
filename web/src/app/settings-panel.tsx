import type { JSX } from 'preact';

import { counted } from '../../../src/internal/format.ts';
import type { AuditSettings, ColumnSummary, LabelChoices, OpenedFile } from '../engine/protocol.ts';
import { Explained } from './blocks.tsx';
import { LIMITS, TERMS } from './help.ts';
import { MAX_GROUPS } from './settings.ts';

interface PanelProps {
  readonly file: OpenedFile;
  readonly settings: AuditSettings;
  readonly labels: ReadonlyMap<string, LabelChoices>;
  readonly onChange: (change: Partial<AuditSettings>) => void;
  readonly onDecimal: (decimal: ',' | undefined) => void;
}

/** The choices of an audit, in the order in which an auditor asks. All have a first guess that can be corrected. */
export function SettingsPanel(props: PanelProps): JSX.Element {
  return (
    <form
      class="settings"
      aria-label="Settings of the audit"
      onSubmit={(event) => {
        event.preventDefault();
      }}
    >
      <DecisionChoice {...props} />
      <TruthChoice {...props} />
      <GroupChoice {...props} />
      <LimitChoice {...props} />
      <MoreChoices {...props} />
    </form>
  );
}

/** A list of columns to choose from. */
function ColumnSelect({
  id,
  label,
  value,
  columns,
  none,
  onChange,
}: {
  readonly id: string;
  readonly label: string;
  readonly value: string | undefined;
  readonly columns: readonly ColumnSummary[];
  readonly none: string;
  readonly onChange: (name: string | undefined) => void;
}): JSX.Element {
  return (
    <label class="field" for={id}>
      <span>{label}</span>
      <select
        id={id}
        value={value ?? ''}
        onChange={(event) => {
          const name = event.currentTarget.value;
          onChange(name === '' ? undefined : name);
        }}
      >
        <option value="">{none}</option>
        {columns.map(({ name, examples, isRepeated }) => (
          <option key={name} value={name} disabled={isRepeated}>
            {name} ({shortened(examples)})
          </option>
        ))}
      </select>
    </label>
  );
}

function shortened(text: string): string {
  return text.length > 44 ? `${text.slice(0, 43)}…` : text;
}

function DecisionChoice({ file, settings, labels, onChange }: PanelProps): JSX.Element {
  const isScore = settings.score !== undefined;
  const { columns, guesses } = file;
  const numbers = columns.filter(({ kind }) => kind === 'numbers');
  const few = columns.filter(({ distinct }) => distinct >= 1 && distinct <= MAX_GROUPS);
  const { decision, score, truth } = guesses;
  const guess = isScore ? score : (decision ?? truth);
  const scoreRange = columns.find(({ name }) => name === settings.score)?.range;
  return (
    <fieldset>
      <legend>1. What was decided?</legend>
      <div class="segments" role="radiogroup" aria-label="Kind of decision">
        {(['decision', 'score'] as const).map((kind) => (
          <label key={kind}>
            <input
              type="radio"
              name="kind"
              checked={(kind === 'score') === isScore}
              disabled={kind === 'score' && numbers.length === 0}
              onChange={() => {
                if (kind === 'decision')
                  onChange({ score: undefined, scoreThreshold: undefined, yPred: decision?.column ?? few[0]?.name });
                else {
                  const chosen =
                    score?.column ?? numbers.find(({ distinct }) => distinct > 2)?.name ?? numbers[0]?.name;
                  const range = columns.find(({ name }) => name === chosen)?.range;
                  onChange({
                    yPred: undefined,
                    positiveLabel: undefined,
                    score: chosen,
                    scoreThreshold: middle(range),
                  });
                }
              }}
            />
            <span>{kind === 'decision' ? 'Decisions' : 'Scores with a threshold'}</span>
          </label>
        ))}
      </div>
      {isScore ? (
        <>
          <ColumnSelect
            id="score"
            label="Column of scores"
            value={settings.score}
            columns={numbers}
            none="Choose a column"
            onChange={(name) => {
              const range = columns.find((column) => column.name === name)?.range;
              onChange({ score: name ?? settings.score, scoreThreshold: middle(range) });
            }}
          />
          <label class="field" for="score-threshold">
            <span>Positive decision from a score of</span>
            <NumberInput
              id="score-threshold"
              value={settings.scoreThreshold ?? 0.5}
              step={stepOf(scoreRange)}
              onChange={(scoreThreshold) => {
                onChange({ scoreThreshold });
              }}
            />
          </label>
        </>
      ) : (
        <>
          <ColumnSelect
            id="decision"
            label="Column of decisions"
            value={settings.yPred}
            columns={columns.filter(({ distinct, name }) => distinct <= 50 || name === settings.yPred)}
            none="Choose a column"
            onChange={(yPred) => {
              onChange({ yPred, positiveLabel: undefined });
            }}
          />
          <PositiveChoice
            id="positive"
            column={settings.yPred}
            value={settings.positiveLabel}
            labels={labels}
            onChange={(positiveLabel) => {
              onChange({ positiveLabel });
            }}
          />
        </>
      )}
      {guess !== undefined && (guess.column === settings.yPred || guess.column === settings.score) && (
        <p class="guess">
          Guessed from {guess.reason}.
          {decision === undefined && !isScore && truth?.column === settings.yPred
            ? ' No column looks like decisions, so the page shows how often each group has this outcome. If another column holds the decisions, choose it.'
            : ''}
        </p>
      )}
    </fieldset>
  );
}

function middle(range: readonly [number, number] | null | undefined): number {
  if (range === null || range === undefined || (range[0] >= 0 && range[1] <= 1)) return 0.5;
  return Number(((range[0] + range[1]) / 2).toPrecision(2));
}

function stepOf(range: readonly [number, number] | null | undefined): number {
  const width = range === null || range === undefined ? 1 : range[1] - range[0];
  return 10 ** Math.floor(Math.log10(Math.max(width, 1e-9) / 50));
}

/** The label that counts as the positive decision, with its number of rows. */
function PositiveChoice({
  id,
  column,
  value,
  labels,
  onChange,
}: {
  readonly id: string;
  readonly column: string | undefined;
  readonly value: string | undefined;
  readonly labels: ReadonlyMap<string, LabelChoices>;
  readonly onChange: (label: string | undefined) => void;
}): JSX.Element | null {
  const found = column === undefined ? undefined : labels.get(column);
  if (found === undefined) return null;
  if (!found.isNeeded) {
    const total = found.counts.reduce((sum, { count }) => sum + count, 0);
    const one = found.counts.find(({ label }) => ['1', '1.0', 'true'].includes(label.toLowerCase()))?.count ?? 0;
    return (
      <p class="hint">
        1 counts as positive: {one.toLocaleString('en-US')} of {total.toLocaleString('en-US')} rows.
      </p>
    );
  }
  return (
    <fieldset class="choices">
      <legend>Which answer is the positive one?</legend>
      {found.counts.slice(0, MAX_GROUPS).map(({ label, count }) => (
        <label key={label} class="choice">
          <input
            type="radio"
            name={id}
            checked={value === label}
            onChange={() => {
              onChange(label);
            }}
          />
          <span>
            <bdi>{label}</bdi>
          </span>
          <small>{count.toLocaleString('en-US')}</small>
        </label>
      ))}
      {found.distinct > MAX_GROUPS && (
        <p class="hint">
          This column has {found.distinct.toLocaleString('en-US')} different values. Is it the right one?
        </p>
      )}
    </fieldset>
  );
}

function TruthChoice({ file, settings, labels, onChange }: PanelProps): JSX.Element {
  const few = file.columns.filter(
    ({ distinct, name }) =>
      (distinct >= 2 && distinct <= MAX_GROUPS && name !== settings.yPred) || name === settings.yTrue,
  );
  return (
    <fieldset>
      <legend>2. What turned out to be true? (optional)</legend>
      <ColumnSelect
        id="truth"
        label="Column of outcomes"
        value={settings.yTrue}
        columns={few}
        none="None: compare decisions only"
        onChange={(yTrue) => {
          onChange({
            yTrue,
            yTruePositiveLabel: undefined,
            ...(yTrue === undefined
              ? { gates: settings.gates.filter(({ metric }) => needsOf(metric) === 'decision') }
              : {}),
          });
        }}
      />
      <PositiveChoice
        id="truth-positive"
        column={settings.yTrue}
        value={settings.yTruePositiveLabel}
        labels={labels}
        onChange={(yTruePositiveLabel) => {
          onChange({ yTruePositiveLabel });
        }}
      />
      <Explained label="What is an outcome?">{TERMS.truth}</Explained>
    </fieldset>
  );
}

function needsOf(metric: string): string {
  return LIMITS.find((limit) => limit.metric === metric)?.needs ?? 'decision';
}

function GroupChoice({ file, settings, onChange }: PanelProps): JSX.Element {
  const { sensitive } = settings;
  const guessed = new Set(file.guesses.sensitive.map(({ column }) => column));
  const taken = new Set([settings.yPred, settings.score, settings.yTrue]);
  const offered = file.columns.filter(
    ({ name, distinct, isRepeated }) =>
      sensitive.includes(name) || (!isRepeated && !taken.has(name) && distinct >= 2 && distinct <= MAX_GROUPS),
  );
  const first = offered.filter(({ name }) => guessed.has(name) || sensitive.includes(name));
  const others = offered.filter((column) => !first.includes(column));
  const box = ({ name, distinct, examples }: ColumnSummary): JSX.Element => (
    <label key={name} class="choice">
      <input
        type="checkbox"
        checked={sensitive.includes(name)}
        onChange={(event) => {
          const isOn = event.currentTarget.checked;
          onChange({ sensitive: isOn ? [...sensitive, name] : sensitive.filter((other) => other !== name) });
        }}
      />
      <span>
        <bdi>{name}</bdi>
        <small title={examples}>
          {distinct} groups: {shortened(examples)}
        </small>
      </span>
    </label>
  );
  return (
    <fieldset>
      <legend>3. Which groups are compared?</legend>
      {first.map(box)}
      {others.length > 0 && (
        <details class="more" open={first.length === 0}>
          <summary>{first.length === 0 ? 'Columns' : counted(others.length, 'more column')}</summary>
          {others.map(box)}
        </details>
      )}
      {sensitive.length > 1 && (
        <label class="choice">
          <input
            type="checkbox"
            checked={settings.isCrossed === true}
            onChange={(event) => {
              onChange({ isCrossed: event.currentTarget.checked ? true : undefined });
            }}
          />
          <span>
            Combinations too
            <small>such as women under 30: gaps can hide in them</small>
          </span>
        </label>
      )}
      {file.guesses.passedOver.map(({ column, reason }) => (
        <p class="hint" key={column}>
          <bdi>{column}</bdi> {reason}.
        </p>
      ))}
    </fieldset>
  );
}

function LimitChoice({ settings, onChange }: PanelProps): JSX.Element {
  const available = LIMITS.filter(
    ({ needs }) =>
      needs === 'decision' || (settings.yTrue !== undefined && (needs === 'truth' || settings.score !== undefined)),
  );
  return (
    <fieldset>
      <legend>4. What is still acceptable?</legend>
      {available.map(({ metric, words, value }) => {
        const gate = settings.gates.find((one) => one.metric === metric);
        const others = settings.gates.filter((one) => one.metric !== metric);
        return (
          <div class="limit" key={metric}>
            <label class="choice">
              <input
                type="checkbox"
                checked={gate !== undefined}
                onChange={(event) => {
                  onChange({ gates: event.currentTarget.checked ? [...others, { metric, threshold: value }] : others });
                }}
              />
              <span>{words}</span>
            </label>
            <NumberInput
              id={`limit-${metric}`}
              label={`${words}: limit`}
              value={gate?.threshold ?? value}
              step={0.01}
              min={0}
              max={1}
              isDisabled={gate === undefined}
              onChange={(threshold) => {
                onChange({ gates: [...others, { metric, threshold }] });
              }}
            />
          </div>
        );
      })}
      <p class="hint">
        The first limits are a starting point. Use those of your rules: no number is fair for every decision.
      </p>
    </fieldset>
  );
}

function MoreChoices({ file, settings, onChange, onDecimal }: PanelProps): JSX.Element {
  const numbers = file.columns.filter(({ kind }) => kind === 'numbers');
  const few = file.columns.filter(({ distinct }) => distinct >= 2 && distinct <= 50);
  const isUsed =
    settings.control !== undefined ||
    settings.sampleWeight !== undefined ||
    settings.cluster !== undefined ||
    settings.minGroupSize !== undefined ||
    settings.ciLevel !== undefined;
  return (
    <details class="more-choices" open={isUsed}>
      <summary>More choices</summary>
      <ColumnSelect
        id="control"
        label="Compare within each part of"
        value={settings.control}
        columns={few.filter(({ name }) => !settings.sensitive.includes(name) && name !== settings.yPred)}
        none="No control column"
        onChange={(control) => {
          onChange({ control });
        }}
      />
      <Explained label="What is a control column?">{TERMS.control}</Explained>
      <ColumnSelect
        id="weight"
        label="Weights of rows"
        value={settings.sampleWeight}
        columns={numbers}
        none="No weights: every row counts once"
        onChange={(sampleWeight) => {
          onChange({ sampleWeight });
        }}
      />
      <Explained label="What is a weight?">{TERMS.weight}</Explained>
      <ColumnSelect
        id="cluster"
        label="Rows of the same person or thing"
        value={settings.cluster}
        columns={file.columns.filter(({ name }) => !settings.sensitive.includes(name) && name !== settings.yPred)}
        none="No such column: every row is independent"
        onChange={(cluster) => {
          onChange({ cluster });
        }}
      />
      <Explained label="Why does it matter?">{TERMS.cluster}</Explained>
      <label class="field" for="min-group-size">
        <span>Smallest group to compare, in rows</span>
        <NumberInput
          id="min-group-size"
          value={settings.minGroupSize ?? 30}
          step={1}
          min={1}
          onChange={(size) => {
            onChange({ minGroupSize: Math.max(1, Math.round(size)) });
          }}
        />
      </label>
      <label class="field" for="ci-level">
        <span>Level of intervals</span>
        <select
          id="ci-level"
          value={String(settings.ciLevel ?? 0.95)}
          onChange={(event) => {
            const level = Number(event.currentTarget.value);
            onChange({ ciLevel: level === 0.95 ? undefined : level });
          }}
        >
          {[0.9, 0.95, 0.99].map((level) => (
            <option key={level} value={String(level)}>
              {Math.round(100 * level)}%
            </option>
          ))}
        </select>
      </label>
      {file.format === 'CSV' && (
        <label class="choice">
          <input
            type="checkbox"
            checked={settings.decimal === ','}
            onChange={(event) => {
              onDecimal(event.currentTarget.checked ? ',' : undefined);
            }}
          />
          <span>
            Numbers have decimal commas
            <small>as in 0,5</small>
          </span>
        </label>
      )}
    </details>
  );
}

/** A field for a number. A text that is not a number is not passed on. */
function NumberInput({
  id,
  label,
  value,
  step,
  min,
  max,
  isDisabled = false,
  onChange,
}: {
  readonly id: string;
  readonly label?: string;
  readonly value: number;
  readonly step: number;
  readonly min?: number;
  readonly max?: number;
  readonly isDisabled?: boolean;
  readonly onChange: (value: number) => void;
}): JSX.Element {
  return (
    <input
      id={id}
      type="number"
      inputMode="decimal"
      aria-label={label}
      value={value}
      step={step}
      min={min}
      max={max}
      disabled={isDisabled}
      onChange={(event) => {
        const given = event.currentTarget.valueAsNumber;
        if (
          Number.isFinite(given) &&
          !event.currentTarget.validity.rangeUnderflow &&
          !event.currentTarget.validity.rangeOverflow
        )
          onChange(given);
        else event.currentTarget.value = String(value);
      }}
    />
  );
}
