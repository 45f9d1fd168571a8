/** The tests of areas whose tests are not, or not only, in the folder of the same name. */
export const AREAS = {
  'metrics/threshold-range.ts': ['test/metrics/threshold-range.test.ts', 'test/integration/validate-bounds.test.ts'],
};
