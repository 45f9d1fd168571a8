export { bootstrapCi, type BootstrapMethod, type BootstrapOptions, type BootstrapStatistic } from './bootstrap-ci.ts';
