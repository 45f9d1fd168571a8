import {
  assertKnownOptions,
  type FilledOptions,
  invalidParameter,
  oneOf,
  type OptionNames,
} from '../../internal/arguments.ts';
import { assertTopic, type KafkaSasl, openKafka } from '../../io/kafka/open-kafka.ts';
import { requireTexts } from '../require-kind.ts';
import type { EventSource, OpenSource, SourceContext } from './event-source.ts';
import { KafkaReader } from './kafka-reader.ts';

/** Options of {@link KafkaSource}. */
export interface KafkaSourceOptions {
  /** The brokers that are asked first, as `host:port`. */
  readonly brokers: readonly string[];
  readonly topic: string;
  /**
   * The consumer group. Processes with the same group share the partitions. Another group counts everything again.
   * @defaultValue 'evenhand'
   */
  readonly group?: string | undefined;
  /**
   * Where partitions begin that were never counted: at their first message, or at their end.
   * @defaultValue 'beginning'
   */
  readonly from?: 'beginning' | 'end' | undefined;
  /**
   * Whether connections use TLS.
   * @defaultValue false
   */
  readonly tls?: boolean | undefined;
  /**
   * How the user and the password of the environment (EVENHAND_KAFKA_USERNAME, EVENHAND_KAFKA_PASSWORD) are sent.
   * @defaultValue 'plain'
   */
  readonly sasl?: KafkaSasl | undefined;
}

const NAMES: OptionNames<KafkaSourceOptions> = {
  brokers: true,
  topic: true,
  group: true,
  from: true,
  tls: true,
  sasl: true,
};

/**
 * A topic of Kafka, read with kafkajs (`npm install kafkajs@2`). Each message is a JSON object.
 *
 * Kafka assigns each partition to one process of the consumer group, and may deliver a message several times. evenhand
 * saves the counts of a partition together with the offset up to which they reach, and continues at that offset, whichever
 * process gets the partition. Messages with the same key are in the same partition: use the id of an event as the key if its true
 * label arrives later.
 */
export class KafkaSource implements EventSource {
  readonly name: string;
  readonly stream: string;
  readonly #options: FilledOptions<KafkaSourceOptions>;

  /** @throws {ValueError} if an option is invalid */
  constructor(options: KafkaSourceOptions) {
    assertKnownOptions('KafkaSource', options, NAMES);
    const { topic, group = 'evenhand', from = 'beginning', tls = false, sasl = 'plain' } = options;
    const brokers = requireTexts('brokers', options.brokers, "be a list of brokers, as in ['127.0.0.1:9092']");
    if (brokers.length === 0) throw invalidParameter('brokers', 'name at least one broker', '[]');
    for (const [name, value] of Object.entries({ topic, group })) {
      if (typeof value !== 'string' || value === '') throw invalidParameter(name, 'be a text that is not empty', value);
    }
    this.#options = { brokers, topic, group, from: oneOf('from', from, ['beginning', 'end']), tls, sasl };
    this.name = `the topic '${topic}' of Kafka`;
    this.stream = `kafka:${encodeURIComponent(topic)}:${encodeURIComponent(group)}`;
  }

  async open(context: SourceContext): Promise<OpenSource> {
    const client = await openKafka(this.#options, context.env);
    await assertTopic(client, this.#options.topic);
    return KafkaReader.open(client, this.#options, context);
  }
}
