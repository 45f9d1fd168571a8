import { PipelineExecutionError } from '../../exceptions/index.ts';
import { assertKnownOptions } from '../../internal/arguments.ts';
import type { TransformerKind } from '../../schemas/pipeline/transformer-params.ts';
import type { Table, TableSource } from '../../table/index.ts';
import { type FitRows, readFitRows, readRows } from './fit-rows.ts';
import { toSnakeCaseKeys } from './transformer-json.ts';
import {
  type TransformedRows,
  type Transformer,
  TRANSFORMER_FIT_OPTION_NAMES,
  type TransformerFitOptions,
  type TransformerJson,
} from './transformer.ts';

/** What a fit has learned: plain data, and what a reader should know of it. */
export interface TransformerState {
  readonly warnings: readonly string[];
}

/** Rows after a transformer, and what is to be said of these rows alone: groups that the fit has not seen, rows without one. */
export interface AppliedRows extends TransformedRows {
  readonly notes: readonly string[];
}

/** What all transformers share: the order of fit and transform, what is kept between them, and their form as JSON. */
export abstract class FittedTransformer<
  Settings extends object,
  State extends TransformerState,
> implements Transformer {
  readonly kind: TransformerKind;
  /** The constructor's options, with every default filled in. */
  readonly settings: Readonly<Settings>;
  #state: State | undefined;
  #notes: readonly string[] = [];

  constructor(kind: TransformerKind, settings: Settings) {
    this.kind = kind;
    this.settings = Object.freeze(settings);
    Object.freeze(this);
  }

  /** What a reader should know of the fit, and then of the latest `transform`. Empty before `fit`. */
  get warnings(): readonly string[] {
    return Object.freeze([...(this.#state?.warnings ?? []), ...this.#notes]);
  }

  /**
   * Learns from rows, and forgets what was learned before; a failed fit leaves
   * an earlier one as it was. Rows of weight 0 count for none.
   * @throws {DataValidationError} for columns that are not there or cannot be used, weights that are none, or no rows
   */
  async fit(data: TableSource, options: TransformerFitOptions = {}): Promise<this> {
    assertKnownOptions(`${this.constructor.name}.fit`, options, TRANSFORMER_FIT_OPTION_NAMES);
    options.signal?.throwIfAborted();
    this.keep(await this.learn(await readFitRows(data, options.sampleWeight), options));
    return this;
  }

  /**
   * Applies what was learned; the table given is left as it is.
   * @throws {PipelineExecutionError} before `fit`
   * @throws {DataValidationError} for columns that are not there or cannot be used
   */
  async transform(data: TableSource): Promise<TransformedRows> {
    const state = this.fitted();
    const { table, sampleWeight, notes } = this.apply(await readRows(data), state);
    this.#notes = notes;
    return Object.freeze({ table, sampleWeight });
  }

  toJSON(): TransformerJson {
    const state = this.#state === undefined ? null : (structuredClone(this.#state) as unknown);
    return {
      kind: this.kind,
      params: toSnakeCaseKeys(structuredClone(this.settings)),
      state: state as TransformerJson['state'],
    };
  }

  protected abstract learn(rows: FitRows, options: TransformerFitOptions): State | Promise<State>;

  protected abstract apply(table: Table, state: State): AppliedRows;

  protected keep(state: State | null): void {
    this.#state = state ?? undefined;
    this.#notes = [];
  }

  /** What was learned; undefined before `fit`. */
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
