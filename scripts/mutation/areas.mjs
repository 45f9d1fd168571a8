const QUICK = [
  'test/metrics/errors.test.ts',
  'test/metrics/standard-errors.test.ts',
  'test/metrics/reference-vectors.test.ts',
  'test/metrics/exclusions.test.ts',
  'test/metrics/compat.test.ts',
  'test/metrics/gap-groups.test.ts',
  'test/metrics/small-cells.test.ts',
  'test/metrics/metric-frame.test.ts',
  'test/metrics/evidence.test.ts',
  'test/metrics/score-measures.test.ts',
];
const LAWS = ['test/property/laws.test.ts', 'test/property/bounds.test.ts'];

/**
 * The tests of areas of src whose tests are not, or not only, in the folder of the same name. Quick tests come first,
 * because the first test that fails ends the run of a mutant.
 */
export const AREAS = {
  'integration/assertions.ts': ['test/integration/assertions.test.ts'],
  'integration/gates.ts': ['test/integration/gates.test.ts'],
  'integration/llm-eval-gate.ts': [
    'test/integration/llm-eval/gate.test.ts',
    'test/integration/gates.test.ts',
    'test/llm-evals/run/run-llm-targets.test.ts',
  ],
  metrics: [...QUICK, 'test/metrics/impact-ratios.test.ts', 'test/metrics/threshold-range.test.ts', ...LAWS],
  'metrics/threshold-range.ts': ['test/metrics/threshold-range.test.ts', 'test/integration/validate-bounds.test.ts'],
  'metrics/analyzer': [...QUICK, 'test/metrics/sources-agree.test.ts', 'test/conformance/metric-backend.test.ts'],
  'metrics/backends': ['test/conformance/metric-backend.test.ts'],
  'metrics/compare': [...QUICK, ...LAWS, 'test/metrics/missing-rows.test.ts', 'test/metrics/clusters.test.ts'],
  'metrics/frame': ['test/metrics/metric-frame.test.ts', 'test/metrics/small-cells.test.ts'],
  'metrics/inequality': ['test/metrics/inequality', 'test/metrics/errors.test.ts'],
  'metrics/measures': [...QUICK, 'test/metrics/clusters.test.ts'],
  'metrics/reduce': [...QUICK, 'test/metrics/sources-agree.test.ts', ...LAWS],
  'metrics/reduce/tensors': ['test/metrics/tensors.test.ts', 'test/conformance/metric-backend.test.ts'],
  'metrics/statistics': [
    'test/metrics/combine-stats.test.ts',
    ...QUICK,
    'test/property/statistics.test.ts',
    ...LAWS,
    'test/metrics/clusters.test.ts',
  ],
  'metrics/subgroups': ['test/metrics/subgroups'],
};
