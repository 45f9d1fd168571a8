import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import type { FeatureChoices, LabelChoices, OpenedFile, ParetoPicture } from '../engine/protocol.ts';
import type { SweepSettings, TrainedSweep } from '../engine/training-protocol.ts';
import { DataTable, Explained, Picture, ProblemBox } from './blocks.tsx';
import type { EngineClient, Progress } from './client.ts';
import { PointDetails, roundedText } from './point-details.tsx';
import { MAX_GROUPS } from './settings.ts';
import { Copyable, save } from './take-away.tsx';
import { useDark } from './theme.ts';
import { Training } from './training-client.ts';

const FIRST_ETAS = '0, 0.5, 1, 2, 4, 8';

interface Problem {
  readonly message: string;
  readonly suggestion?: string | undefined;
}

/** A finished sweep. */
interface Trained extends TrainedSweep {
  readonly settings: SweepSettings;
  /** The worker, which still has the scores of the held-out rows. */
  readonly training: Training;
}

interface TradeOffProps {
  readonly client: EngineClient;
  readonly file: OpenedFile | undefined;
  readonly onAudit: () => void;
}

/** The page on which somebody trains models that differ in how much weight the gap between groups has. */
export function TradeOffPage({ client, file, onAudit }: TradeOffProps): JSX.Element {
  return (
    <div class="trade-off">
      <div class="card intro">
        <h1>What does a smaller gap cost?</h1>
        <p>
          This page trains small neural networks on your file, in this browser. Each network predicts the outcome and
          pays a different price for a gap between groups. The picture shows how accurate each one is, and how large its
          gap is, on rows that it has not seen.
        </p>
      </div>
      {file === undefined ? (
        <div class="card waiting">
          <h2>Open a file first</h2>
          <p>The file needs a column to predict, a column of groups, and columns to learn from.</p>
          <button type="button" class="primary" onClick={onAudit}>
            Choose a file or a sample
          </button>
        </div>
      ) : (
        <Sweep client={client} file={file} />
      )}
    </div>
  );
}

function Sweep({ client, file }: { readonly client: EngineClient; readonly file: OpenedFile }): JSX.Element {
  const targets = file.columns.filter(({ distinct, isRepeated }) => distinct === 2 && !isRepeated);
  const groups = file.columns.filter(
    ({ distinct, isRepeated }) => distinct >= 2 && distinct <= MAX_GROUPS && !isRepeated,
  );
  const { truth, decision, sensitive: guessed } = file.guesses;
  const [target, setTarget] = useState(truth?.column ?? decision?.column ?? targets[0]?.name ?? '');
  const [sensitive, setSensitive] = useState(
    guessed[0]?.column ?? groups.find(({ name }) => name !== target)?.name ?? '',
  );
  const [labels, setLabels] = useState<LabelChoices>();
  const [positiveLabel, setPositiveLabel] = useState<string>();
  const [choices, setChoices] = useState<FeatureChoices>();
  const [features, setFeatures] = useState<readonly string[]>([]);
  const [etas, setEtas] = useState(FIRST_ETAS);
  const [epochs, setEpochs] = useState(20);
  const [lacksGpu, setLacksGpu] = useState(false);
  const [backend, setBackend] = useState<SweepSettings['backend']>('wasm');
  const [progress, setProgress] = useState<Progress>();
  const [problem, setProblem] = useState<Problem>();
  const [trained, setTrained] = useState<Trained>();
  const running = useRef<Training | undefined>(undefined);
  const results = useRef<HTMLDivElement>(null);

  useEffect(() => {
    let isCurrent = true;
    setLabels(undefined);
    setPositiveLabel(undefined);
    if (target === '') return undefined;
    void client.ask('labels', [target]).then((found) => {
      if (!isCurrent) return;
      setLabels(found);
      setPositiveLabel(found.isNeeded ? (found.guess ?? found.counts.at(-1)?.label) : undefined);
    }, report);
    return () => {
      isCurrent = false;
    };
  }, [client, target]);

  useEffect(() => {
    let isCurrent = true;
    const isOpen = labels === undefined || (labels.isNeeded && positiveLabel === undefined);
    if (target === '' || sensitive === '' || isOpen) return undefined;
    // Other decisions and weights are no features, and neither are other sensitive columns.
    const roles = [file.guesses.decision, file.guesses.score, file.guesses.truth, file.guesses.weight, ...guessed];
    const used = [...new Set([sensitive, ...roles.flatMap((role) => role?.column ?? [])])];
    void client.ask('features', [target, positiveLabel, used.filter((name) => name !== target)]).then((found) => {
      if (!isCurrent) return;
      setChoices(found);
      setFeatures(found.features);
    }, report);
    return () => {
      isCurrent = false;
    };
  }, [client, target, sensitive, labels, positiveLabel]);

  useEffect(
    () => () => {
      running.current?.stop();
    },
    [],
  );

  const chooseBackend = (select: HTMLSelectElement): void => {
    setLacksGpu(false);
    setBackend('wasm');
    if (select.value !== 'webgpu') return;
    const use = (isFound: boolean): void => {
      if (isFound) setBackend('webgpu');
      else select.value = 'wasm';
      setLacksGpu(!isFound);
    };
    // Only now, because browsers complain in the console if there is none.
    void findGpu().then(use, () => {
      use(false);
    });
  };

  function report(error: unknown): void {
    setProblem(error as Error);
  }

  const weights = etas
    .split(/[\s,;]+/)
    .filter((text) => text !== '')
    .map(Number);
  const wrong =
    weights.length === 0 || weights.length > 20 || !weights.every((eta) => eta >= 0 && Number.isFinite(eta));
  const isReady = target !== '' && sensitive !== '' && target !== sensitive && features.length > 0 && !wrong;

  const train = async (): Promise<void> => {
    setProblem(undefined);
    setTrained(undefined);
    setProgress({ stage: 'Starting', done: 0, total: 1 });
    const settings: SweepSettings = {
      ...{ target, positiveLabel, sensitive, features, epochs, seed: 42, backend },
      etas: [...new Set(weights)],
    };
    // In a narrow window, the results are below the settings.
    if ((results.current?.getBoundingClientRect().top ?? 0) > innerHeight / 2) results.current?.scrollIntoView();
    running.current?.stop();
    const training = new Training(setProgress);
    running.current = training;
    try {
      const source = await client.ask('file', []);
      setTrained({ ...(await training.train(source, settings)), settings, training });
      setProgress(undefined);
    } catch (error) {
      report(error);
      end();
    }
  };
  const end = (): void => {
    running.current?.stop();
    running.current = undefined;
    setProgress(undefined);
  };

  return (
    <div class="audit">
      <form
        class="settings side"
        aria-label="Settings of the training"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && progress === undefined) void train();
        }}
      >
        <fieldset>
          <legend>1. What is predicted?</legend>
          <Choice
            id="target"
            label="Column with two values"
            value={target}
            names={namesOf(targets)}
            onChange={setTarget}
          />
          {labels?.isNeeded === true && (
            <Choice
              id="target-positive"
              label="Positive value"
              value={positiveLabel ?? ''}
              names={labels.counts.map(({ label }) => label)}
              onChange={setPositiveLabel}
            />
          )}
        </fieldset>
        <fieldset>
          <legend>2. Between which groups?</legend>
          <Choice
            id="sweep-groups"
            label="Column of groups"
            value={sensitive}
            names={namesOf(groups).filter((name) => name !== target)}
            onChange={setSensitive}
          />
          <p class="hint">The networks do not see this column.</p>
        </fieldset>
        <fieldset>
          <legend>3. What do they learn from?</legend>
          {[...(choices?.features ?? []), ...(choices?.left ?? []).map(({ column }) => column)].map((name) => (
            <label class="choice" key={name}>
              <input
                type="checkbox"
                checked={features.includes(name)}
                onChange={(event) => {
                  setFeatures(
                    event.currentTarget.checked ? [...features, name] : features.filter((other) => other !== name),
                  );
                }}
              />
              <span>
                <bdi>{name}</bdi>
                <small>{choices?.left.find(({ column }) => column === name)?.reason ?? ''}</small>
              </span>
            </label>
          ))}
          {choices !== undefined && features.length === 0 && <p class="hint">Choose at least one column.</p>}
        </fieldset>
        <fieldset>
          <legend>4. Prices of a gap</legend>
          <label class="field" for="etas">
            <span>Weights (eta), one network each</span>
            <input
              id="etas"
              type="text"
              inputMode="decimal"
              value={etas}
              aria-invalid={wrong}
              onInput={(event) => {
                setEtas(event.currentTarget.value);
              }}
            />
          </label>
          {wrong && <p class="hint">Write 1 to 20 numbers of at least 0, separated by commas.</p>}
          <label class="field" for="epochs">
            <span>Passes over the rows</span>
            <input
              id="epochs"
              type="number"
              min={1}
              max={500}
              value={epochs}
              onChange={(event) => {
                const given = Math.round(event.currentTarget.valueAsNumber);
                if (given >= 1 && given <= 500) setEpochs(given);
                else event.currentTarget.value = String(epochs);
              }}
            />
          </label>
          {'gpu' in navigator && (
            <label class="field" for="backend">
              <span>Compute on</span>
              <select
                id="backend"
                value={backend}
                onChange={(event) => {
                  chooseBackend(event.currentTarget);
                }}
              >
                <option value="wasm">the processor (WebAssembly)</option>
                <option value="webgpu">the graphics processor (WebGPU)</option>
              </select>
            </label>
          )}
          {lacksGpu && (
            <p class="hint" role="status">
              Pages cannot use a graphics processor in this browser, so that the processor is used.
            </p>
          )}
          <Explained label="What is eta?">
            A network minimises its error plus eta times a penalty for a gap between the groups. With 0, only the error
            counts.
          </Explained>
        </fieldset>
        {progress === undefined ? (
          <button type="submit" class="primary" disabled={!isReady}>
            Train
          </button>
        ) : (
          <button type="button" onClick={end}>
            Stop the training
          </button>
        )}
      </form>
      <div class="results" ref={results} aria-live="polite" aria-busy={progress !== undefined}>
        {progress !== undefined && (
          <div class="status-line busy" role="status">
            <span>
              {progress.stage}
              {progress.total > 1 ? `: ${String(Math.round((100 * progress.done) / progress.total))}%` : ' …'}
            </span>
            <progress
              value={progress.total > 1 ? progress.done / progress.total : undefined}
              aria-label={progress.stage}
            />
          </div>
        )}
        {problem !== undefined && <ProblemBox problem={problem} />}
        {trained !== undefined && <Points client={client} trained={trained} />}
        {trained === undefined && progress === undefined && problem === undefined && (
          <div class="card waiting">
            <h2>Ready to train</h2>
            <p>Check the choices, then train. A small file takes seconds. Nothing leaves this computer.</p>
          </div>
        )}
      </div>
    </div>
  );
}

/** The part of WebGPU that tells whether there is a graphics processor. */
interface GpuAdapter {
  readonly info?: { readonly isFallbackAdapter?: boolean };
  readonly isFallbackAdapter?: boolean;
}

/** Returns whether pages may use a graphics processor. One that is imitated in software is slower than the processor. */
async function findGpu(): Promise<boolean> {
  const { gpu } = navigator as { readonly gpu?: { requestAdapter(): Promise<GpuAdapter | null> } };
  const adapter = await gpu?.requestAdapter();
  if (adapter === undefined || adapter === null) return false;
  return !(adapter.info?.isFallbackAdapter ?? adapter.isFallbackAdapter ?? false);
}

function namesOf(columns: readonly { readonly name: string }[]): string[] {
  return columns.map(({ name }) => name);
}

function Choice({
  id,
  label,
  value,
  names,
  onChange,
}: {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly names: readonly string[];
  readonly onChange: (name: string) => void;
}): JSX.Element {
  return (
    <label class="field" for={id}>
      <span>{label}</span>
      <select
        id={id}
        value={value}
        onChange={(event) => {
          onChange(event.currentTarget.value);
        }}
      >
        {names.length === 0 && <option value="">No such column</option>}
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The picture of a sweep, whose points can be chosen, and the numbers of the chosen point. */
function Points({ client, trained }: { readonly client: EngineClient; readonly trained: Trained }): JSX.Element {
  const { result, command, settings, training } = trained;
  const { points } = result;
  const isDark = useDark();
  const [picture, setPicture] = useState<ParetoPicture & { readonly url: string; readonly paper: string }>();
  const [chosen, setChosen] = useState(
    Math.max(
      0,
      points.findIndex(({ dominated }) => !dominated),
    ),
  );
  useEffect(() => {
    let isCurrent = true;
    const urls: string[] = [];
    const draw = async (dark: boolean): Promise<ParetoPicture & { readonly url: string }> => {
      const drawn = await client.ask('pareto', [points, dark]);
      const url = URL.createObjectURL(new Blob([drawn.svg], { type: 'image/svg+xml' }));
      urls.push(url);
      return { ...drawn, url };
    };
    void Promise.all([draw(isDark), isDark ? draw(false) : undefined]).then(([screen, paper = screen]) => {
      if (isCurrent) setPicture({ ...screen, paper: paper.url });
    });
    return () => {
      isCurrent = false;
      setTimeout(() => {
        for (const url of urls) URL.revokeObjectURL(url);
      }, 5000);
    };
  }, [client, points, isDark]);
  const point = points[chosen] ?? points[0];
  const base = points.find(({ eta }) => eta === 0);
  return (
    <>
      <section class="card" aria-labelledby="picture-title">
        <h2 id="picture-title">The trade-off</h2>
        <p>
          Up is more accurate; left is a smaller gap. Choose a point to read its numbers. The crosses are 95% intervals:
          if they overlap widely, the data cannot distinguish the networks.
        </p>
        <div class="pareto-scroll" role="group" aria-label="Picture of the trade-off" tabIndex={0}>
          <div class="pareto">
            {picture === undefined ? (
              <div class="placeholder" />
            ) : (
              <>
                <Picture screen={picture.url} paper={picture.paper} alt={picture.description} />
                {picture.places.map(({ left, top }, index) => (
                  <button
                    key={points[index]?.eta}
                    type="button"
                    class={`point${index === chosen ? ' chosen' : ''}`}
                    style={{ left: `${String(left)}%`, top: `${String(top)}%` }}
                    aria-label={`Network with eta ${String(points[index]?.eta)}`}
                    aria-pressed={index === chosen}
                    onClick={() => {
                      setChosen(index);
                    }}
                  />
                ))}
              </>
            )}
          </div>
        </div>
        {point !== undefined && <PointDetails point={point} base={base} network={chosen} training={training} />}
      </section>
      <section class="card" aria-labelledby="points-title">
        <h2 id="points-title">All networks</h2>
        <DataTable
          table={{
            caption: `${result.n_train.toLocaleString('en-US')} rows trained on, ${result.n_test.toLocaleString('en-US')} rows judged on`,
            columns: [
              { name: 'Eta' },
              ...['Accuracy', 'Selection rates differ by', 'True and false positive rates differ by', 'Loss'].map(
                (name) => ({ name, isNumber: true }),
              ),
              { name: 'Remark' },
            ],
            rows: points.map((one) => [
              String(one.eta),
              roundedText(one.accuracy),
              roundedText(one.dp_diff),
              roundedText(one.eo_diff),
              roundedText(one.loss),
              one.dominated ? 'dominated' : '',
            ]),
          }}
        />
        <Explained label="What is dominated?">
          Another network is at least as accurate and has at most the same gap, and is better in one of the two. There
          is no reason to choose a dominated network.
        </Explained>
        {result.warnings.length > 0 && (
          <div class="note">
            <p>
              <strong>Notes</strong>
            </p>
            <ul>
              {result.warnings.map((text) => (
                <li key={text}>{text}</li>
              ))}
            </ul>
          </div>
        )}
        <p class="hint">
          A smaller gap on these rows is no promise for other rows, and a network with a small gap is not thereby fair.
          Measure the decisions of the network that you use.
        </p>
        <button
          type="button"
          class="quiet"
          onClick={() => {
            save(
              new Blob([`${JSON.stringify(result, undefined, 2)}\n`], { type: 'application/json' }),
              `${settings.target}-trade-off.json`,
            );
          }}
        >
          Save the points (JSON)
        </button>
        <h3>The same training on the command line</h3>
        <Copyable text={command} label="the command" />
      </section>
    </>
  );
}
