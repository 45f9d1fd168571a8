export type { AlertSink, MonitorReading } from '../alarms/alert-event.ts';
export { logSink } from './log-sink.ts';
export { ndjsonSink, type NdjsonSinkOptions } from './ndjson-sink.ts';
export { type PrometheusSink, prometheusSink } from './prometheus-sink.ts';
export { webhookSink } from './webhook-sink.ts';
export type { WebhookSinkOptions } from './webhook-options.ts';
