export * from './ab-test/index.ts';
export * from './alarms/index.ts';
export * from './drift/index.ts';
export * from './records/index.ts';
export * from './sinks/index.ts';
export * from './tracker/index.ts';
export {
  type DashboardFormat,
  type DashboardParts,
  FairnessReportingDashboard,
} from './dashboard/fairness-reporting-dashboard.ts';
export { activeAlertsJson, dashboardToJson } from './dashboard/save-dashboard.ts';
export { type DashboardOptions, dashboardToHtml } from './dashboard/dashboard-to-html.ts';
export { dashboardToMarkdown } from './dashboard/monitoring-document.ts';
export type { CrossedCells, MonitoringView, WatchedMetric } from './dashboard/monitoring-view.ts';
export type { LabelCoverage, StreamProblems } from './tracker/event-block.ts';
export type { AlertHistory } from './alarms/alert-event.ts';
export { type SavedDashboard, saveDashboard } from './dashboard/save-dashboard.ts';
export { takeView } from './dashboard/take-view.ts';
export { type FollowOptions, followLines, type FollowResult, type UnreadableLine } from './follow-lines.ts';
export {
  followStream,
  type FollowStreamOptions,
  type FollowStreamResult,
  type MergedStream,
} from './streams/follow-stream.ts';
export type {
  AcknowledgedStream,
  EventSource,
  OpenSource,
  PartitionConsumer,
  SourceContext,
  StreamMessage,
} from './streams/event-source.ts';
export { KafkaSource, type KafkaSourceOptions } from './streams/kafka-source.ts';
export { type RedisStreamOptions, RedisStreamSource } from './streams/redis-stream-source.ts';
export { replay, type ReplayOptions, type ReplayResult } from './replay.ts';
export { replaySql, type ReplaySqlOptions, type ReplaySqlResult } from './replay-sql.ts';
