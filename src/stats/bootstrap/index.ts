export { bootstrapCi, type BootstrapMethod, type BootstrapOptions } from './bootstrap-ci.ts';
export type { BootstrapStatistic } from './statistic.ts';
