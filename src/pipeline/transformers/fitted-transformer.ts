import { PipelineExecutionError } from '../../exceptions/index.ts';
import { assertKnownOptions, snakeFields } from '../../internal/arguments.ts';
import { withoutUndefined } from '../../internal/values.ts';
import type { TransformerKind } from '../../schemas/pipeline/transformer-params.ts';
import { readTable, type Table, type TableSource } from '../../table/index.ts';
import { type FitRows, readFitRows } from './fit-rows.ts';
import { fromStored, readTransformerJson, type TransformerDefinition } from './transformer-json.ts';
import {
  type TransformedRows,
  type Transformer,
  TRANSFORMER_FIT_OPTION_NAMES,
  type TransformerFitOptions,
  type TransformerJson,
} from './transformer.ts';

/** The fitted state of a transformer: plain data, with warnings. */
export interface TransformerState {
  readonly warnings: readonly string[];
}

/** Transformed rows, with notes about them: groups that did not occur in `fit`, and rows without a group. */
export interface AppliedRows extends TransformedRows {
  readonly notes: readonly string[];
}

/**
 * The base class of transformers. The class stores the fitted state, requires `fit` before `transform`, and converts
 * the transformer to JSON.
 */
export abstract class FittedTransformer<
  Settings extends object,
  State extends TransformerState,
> implements Transformer {
  readonly kind: TransformerKind;
  /** The constructor's options, with every default filled in. */
  readonly settings: Readonly<Settings>;
  #state: State | undefined;
  #notes: readonly string[] = [];

  constructor({ kind, options: known }: TransformerDefinition<unknown>, options: object, settings: () => Settings) {
    assertKnownOptions(kind, options, known);
    this.kind = kind;
    this.settings = Object.freeze(settings());
    Object.freeze(this);
  }

  /** Restores a transformer of a class from the output of `toJSON`. */
  protected static restore<Made extends FittedTransformer<object, State>, State extends TransformerState>(
    type: new (options: never) => Made,
    definition: TransformerDefinition<State>,
    json: unknown,
  ): Made {
    const { options, state } = readTransformerJson(definition, json);
    const made = fromStored(definition.kind, () => new type(options as never));
    made.keep(state);
    return made;
  }

  /** Warnings about the fit, and then about the latest `transform`. The list is empty before `fit`. */
  get warnings(): readonly string[] {
    return Object.freeze([...(this.#state?.warnings ?? []), ...this.#notes]);
  }

  /**
   * Fits the transformer on rows. The new fit replaces an earlier fit. If fitting fails, the earlier fit is kept. Rows
   * with weight 0 are ignored.
   * @throws {DataValidationError} if a column does not exist or cannot be used, the weights are invalid, or there are
   *   no rows
   */
  async fit(data: TableSource, options: TransformerFitOptions = {}): Promise<this> {
    assertKnownOptions(`${this.constructor.name}.fit`, options, TRANSFORMER_FIT_OPTION_NAMES);
    options.signal?.throwIfAborted();
    this.keep(await this.learn(await readFitRows(data, options.sampleWeight), options));
    return this;
  }

  /**
   * Applies the fitted transformer. The input table is not changed.
   * @throws {PipelineExecutionError} if the transformer has not been fitted
   * @throws {DataValidationError} if a column does not exist or cannot be used
   */
  async transform(data: TableSource): Promise<TransformedRows> {
    const state = this.fitted();
    const { table, sampleWeight, notes } = this.apply(await readTable(data), state);
    this.#notes = notes;
    return Object.freeze({ table, sampleWeight });
  }

  toJSON(): TransformerJson {
    const state = this.#state === undefined ? null : (structuredClone(this.#state) as unknown);
    return {
      kind: this.kind,
      params: withoutUndefined(snakeFields(structuredClone(this.settings))),
      state: state as TransformerJson['state'],
    };
  }

  protected abstract learn(rows: FitRows, options: TransformerFitOptions): State | Promise<State>;

  protected abstract apply(table: Table, state: State): AppliedRows;

  protected keep(state: State | null): void {
    this.#state = state ?? undefined;
    this.#notes = [];
  }

  /** The fitted state; undefined before `fit`. */
  protected get state(): State | undefined {
    return this.#state;
  }

  protected fitted(): State {
    if (this.#state !== undefined) return this.#state;
    throw new PipelineExecutionError(`The ${this.kind} has not been fitted.`, {
      context: { transformer: this.kind },
      suggestion: 'Call fit with the training rows first.',
    });
  }
}
