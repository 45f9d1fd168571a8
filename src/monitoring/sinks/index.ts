export type { AlertSink, MonitorReading } from './alert-sink.ts';
export { logSink } from './log-sink.ts';
export { ndjsonSink, type NdjsonSinkOptions } from './ndjson-sink.ts';
export { type PrometheusSink, prometheusSink } from './prometheus/prometheus-sink.ts';
export { webhookSink } from './webhook/webhook-sink.ts';
export type { WebhookSinkOptions } from './webhook/webhook-options.ts';
