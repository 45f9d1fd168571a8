import { expect } from 'chai';
import type { z } from 'zod';

import { toCamelCase } from '../../../src/internal/arguments.ts';
import { parsePipelineConfig } from '../../../src/pipeline/config/index.ts';
import {
  CorrelationRemover,
  type CorrelationRemoverOptions,
} from '../../../src/pipeline/transformers/correlation/correlation-remover.ts';
import { ProxyDropper, type ProxyDropperOptions } from '../../../src/pipeline/transformers/proxy-dropper.ts';
import {
  DisparateImpactRemover,
  type DisparateImpactRemoverOptions,
} from '../../../src/pipeline/transformers/repair/disparate-impact-remover.ts';
import { LearnedFairRepresentations } from '../../../src/pipeline/transformers/representations/learned-fair-representations.ts';
import type { LearnedFairRepresentationsOptions } from '../../../src/pipeline/transformers/representations/representation-options.ts';
import {
  InstanceReweighting,
  type InstanceReweightingOptions,
} from '../../../src/pipeline/transformers/weighting/instance-reweighting.ts';
import {
  ReweighingTransformer,
  type ReweighingTransformerOptions,
} from '../../../src/pipeline/transformers/weighting/reweighing-transformer.ts';
import {
  TRANSFORMER_KINDS,
  type TRANSFORMER_PARAMS,
  type TransformerKind,
} from '../../../src/schemas/pipeline/transformer-params.ts';

// prettier-ignore

interface Options {
  readonly InstanceReweighting: InstanceReweightingOptions;
  readonly ReweighingTransformer: ReweighingTransformerOptions;
  readonly DisparateImpactRemover: DisparateImpactRemoverOptions;
  readonly ProxyDropper: ProxyDropperOptions;
  readonly CorrelationRemover: CorrelationRemoverOptions;
  readonly LearnedFairRepresentations: LearnedFairRepresentationsOptions;
}

type CamelCase<Text extends string> = Text extends `${infer Head}_${infer First}${infer Rest}`
  ? `${Head}${Uppercase<First>}${CamelCase<Rest>}`
  : Text;
type Keys<Kind extends TransformerKind> = CamelCase<keyof z.output<(typeof TRANSFORMER_PARAMS)[Kind]> & string>;
/** Values of the rest of the configuration, which a step need not repeat. */
type Around = 'candidates' | 'label';
type IsComplete<Kind extends TransformerKind> = [Keys<Kind>] extends [keyof Options[Kind]]
  ? [Exclude<keyof Options[Kind], Around>] extends [Keys<Kind>]
    ? true
    : never
  : never;

/** Checked by the compiler: each transformer's options are complete. */
const COMPLETE: { readonly [Kind in TransformerKind]: IsComplete<Kind> } = {
  InstanceReweighting: true,
  ReweighingTransformer: true,
  DisparateImpactRemover: true,
  ProxyDropper: true,
  CorrelationRemover: true,
  LearnedFairRepresentations: true,
};

/** The classes themselves, without the registry's check by the same schema. */
const CLASSES: Readonly<Record<TransformerKind, (options: never) => unknown>> = {
  InstanceReweighting: (options) => new InstanceReweighting(options),
  ReweighingTransformer: (options) => new ReweighingTransformer(options),
  DisparateImpactRemover: (options) => new DisparateImpactRemover(options),
  ProxyDropper: (options) => new ProxyDropper(options),
  CorrelationRemover: (options) => new CorrelationRemover(options),
  LearnedFairRepresentations: (options) => new LearnedFairRepresentations(options),
};

function isRead(kind: TransformerKind, params: object): boolean {
  try {
    parsePipelineConfig({ sensitive: 's', steps: [{ kind, params }] });
    return true;
  } catch {
    return false;
  }
}

function isMade(kind: TransformerKind, params: object): boolean {
  const options = Object.fromEntries(Object.entries(params).map(([name, value]) => [toCamelCase(name), value]));
  try {
    // The only kind without labels rejects the option, like any unknown option.
    const label = kind === 'InstanceReweighting' ? {} : { label: 'y' };
    CLASSES[kind]({ sensitive: 's', ...label, ...options } as never);
    return true;
  } catch {
    return false;
  }
}

describe('parameters of transformers', () => {
  it('are named as the options of their classes', () => {
    expect(Object.keys(COMPLETE)).to.deep.equal(TRANSFORMER_KINDS);
  });

  const limits: readonly (readonly [TransformerKind, object, boolean])[] = [
    ['InstanceReweighting', {}, true],
    ['InstanceReweighting', { max_weight: 1, min_count: 1, benchmarks: { s: { a: 1 } } }, true],
    ['InstanceReweighting', { max_weight: 0.99 }, false],
    ['InstanceReweighting', { min_count: 0 }, false],
    ['InstanceReweighting', { min_count: 1.5 }, false],
    ['InstanceReweighting', { benchmarks: { s: { a: -0.1, b: 1.1 } } }, false],
    ['ReweighingTransformer', { label: 'y', positive_label: 'yes', max_weight: 1, targets: { a: 0.5, b: 0.5 } }, true],
    ['ReweighingTransformer', { max_weight: 0 }, false],
    ['ReweighingTransformer', { targets: { a: -1 } }, false],
    ['DisparateImpactRemover', { features: ['x'], repair_level: 0, min_group_size: 1, compat: 'aif360' }, true],
    ['DisparateImpactRemover', { repair_level: 1.01 }, false],
    ['DisparateImpactRemover', { repair_level: -0.01 }, false],
    ['DisparateImpactRemover', { min_group_size: 0 }, false],
    ['DisparateImpactRemover', { compat: 'fairlearn' }, false],
    ['ProxyDropper', { features: ['x'], threshold: 0, max_drop: 0 }, true],
    ['ProxyDropper', { threshold: 1 }, true],
    ['ProxyDropper', { threshold: 1.5 }, false],
    ['ProxyDropper', { max_drop: -1 }, false],
    ['CorrelationRemover', { features: ['x'], alpha: 0 }, true],
    ['CorrelationRemover', { alpha: 2 }, false],
    [
      'LearnedFairRepresentations',
      { prototypes: 2, reconstruction: 0, prediction: 0, parity: 0, max_iterations: 1, seed: -1 },
      true,
    ],
    ['LearnedFairRepresentations', { prototypes: 1 }, false],
    ['LearnedFairRepresentations', { parity: -1 }, false],
    ['LearnedFairRepresentations', { max_iterations: 0 }, false],
    ['LearnedFairRepresentations', { seed: 0.5 }, false],
  ];
  for (const [kind, params, isGood] of limits) {
    it(`${kind} ${isGood ? 'accepts' : 'rejects'} ${JSON.stringify(params)}, in a file and in code`, () => {
      expect({ isRead: isRead(kind, params), isMade: isMade(kind, params) }).to.deep.equal({
        isRead: isGood,
        isMade: isGood,
      });
    });
  }
});
