/** A number computed from a sample, whatever the order of its values. */
export type BootstrapStatistic = (values: Float64Array) => number;
