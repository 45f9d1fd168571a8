import { ConfigValidationError, DataValidationError } from '../../exceptions/index.ts';
import { oneOf, suggestNames } from '../../internal/arguments.ts';
import { importOptional } from '../../internal/packages.ts';
import { oneLine } from '../duckdb.ts';
import { readSecret } from '../read-secret.ts';

/** How a client proves who it is: with a user and a password. */
export type KafkaSasl = 'plain' | 'scram-sha-256' | 'scram-sha-512';

/** The address of a Kafka cluster. */
export interface KafkaAddress {
  /** The brokers that are asked first, as `host:port`. */
  readonly brokers: readonly string[];
  /** Whether connections use TLS. Certificates are checked. */
  readonly tls: boolean;
  /** How the user and the password of the environment are sent. */
  readonly sasl: KafkaSasl;
}

/** The part of an admin client of kafkajs that is used. */
interface KafkaAdmin {
  connect(): Promise<void>;
  listTopics(): Promise<string[]>;
  fetchTopicOffsets(topic: string): Promise<{ partition: number; high: string; low: string }[]>;
  disconnect(): Promise<void>;
}

/** A message of a batch. */
export interface KafkaMessage {
  readonly offset: string;
  readonly value: Buffer | null;
}

/** A batch of messages of one partition, and the functions that kafkajs offers for it. */
export interface KafkaBatch {
  readonly batch: {
    readonly partition: number;
    readonly messages: readonly KafkaMessage[];
    firstOffset(): string | null;
    lastOffset(): string;
  };
  readonly resolveOffset: (offset: string) => void;
  readonly heartbeat: () => Promise<void>;
  /** Returns whether the partition is about to continue at another offset. */
  readonly isStale: () => boolean;
}

/** The part of a consumer of kafkajs that is used. */
export interface KafkaConsumer {
  readonly events: Readonly<Record<'GROUP_JOIN' | 'CRASH' | 'END_BATCH_PROCESS' | 'FETCH', string>>;
  on(event: string, listener: (event: { readonly payload: never }) => void): () => void;
  connect(): Promise<void>;
  subscribe(options: { readonly topics: readonly string[]; readonly fromBeginning: boolean }): Promise<void>;
  run(options: object): Promise<void>;
  seek(to: { readonly topic: string; readonly partition: number; readonly offset: string }): void;
  pause(topics: readonly { readonly topic: string; readonly partitions: readonly number[] }[]): void;
  resume(topics: readonly { readonly topic: string; readonly partitions: readonly number[] }[]): void;
  commitOffsets(
    offsets: readonly { readonly topic: string; readonly partition: number; readonly offset: string }[],
  ): Promise<void>;
  disconnect(): Promise<void>;
}

/** A client of kafkajs. */
export interface KafkaClient {
  /** The address in messages. It contains no password. */
  readonly name: string;
  consumer(options: object): KafkaConsumer;
  /** Runs a function with a connected admin client. */
  withAdmin<Result>(use: (admin: KafkaAdmin) => Promise<Result>): Promise<Result>;
}

/** A host and a port. The host may be an IPv6 address in brackets. */
const BROKER = /^(?:\[[0-9a-f:.]+\]|[^\s:/@?#[\]]+):\d{1,5}$/i;

/** How long a broker may take to answer, in milliseconds. */
const CONNECT_MILLIS = 5000;
const REQUEST_MILLIS = 15_000;

/** How often kafkajs repeats a request by itself. */
const RETRY = { retries: 3, initialRetryTime: 200, maxRetryTime: 2000 };

/**
 * Makes a client of a Kafka cluster. The user comes from EVENHAND_KAFKA_USERNAME, and the password from
 * EVENHAND_KAFKA_PASSWORD or the file that EVENHAND_KAFKA_PASSWORD_FILE names.
 * @throws {ConfigValidationError} if an address is not valid
 * @throws {DependencyError} if kafkajs is not installed
 */
export async function openKafka(
  { brokers, tls, sasl }: KafkaAddress,
  env: Readonly<Record<string, string | undefined>>,
): Promise<KafkaClient> {
  for (const broker of brokers) assertBroker(broker);
  const login = loginOf(oneOf('sasl', sasl, ['plain', 'scram-sha-256', 'scram-sha-512']), env);
  const { Kafka, logLevel } = (await importOptional('kafkajs', 'to read from Kafka', () => import('kafkajs'))) as {
    readonly Kafka: new (options: object) => {
      admin(options: object): KafkaAdmin;
      consumer(options: object): KafkaConsumer;
    };
    readonly logLevel: { readonly NOTHING: number };
  };
  const kafka = new Kafka({
    clientId: 'evenhand',
    brokers: [...brokers],
    ssl: tls,
    ...(login === undefined ? {} : { sasl: login }),
    connectionTimeout: CONNECT_MILLIS,
    authenticationTimeout: CONNECT_MILLIS,
    requestTimeout: REQUEST_MILLIS,
    retry: RETRY,
    // Errors are reported once, by evenhand.
    logLevel: logLevel.NOTHING,
  });
  const name = `Kafka at ${brokers.join(', ')}`;
  return {
    name,
    consumer: (options) =>
      // kafkajs restarts a consumer forever; evenhand limits the time of an outage.
      kafka.consumer({ ...options, retry: { ...RETRY, restartOnFailure: () => Promise.resolve(false) } }),
    async withAdmin(use) {
      const admin = kafka.admin({ retry: RETRY });
      try {
        await admin.connect();
        return await use(admin);
      } catch (error) {
        throw kafkaError(name, error);
      } finally {
        await admin.disconnect().catch(() => undefined);
      }
    },
  };
}

/**
 * Checks that a topic exists.
 * @throws {DataValidationError} if it does not, or Kafka does not answer
 */
export async function assertTopic(client: KafkaClient, topic: string): Promise<void> {
  const topics = await client.withAdmin((admin) => admin.listTopics());
  if (topics.includes(topic)) return;
  const own = topics.filter((name) => !name.startsWith('__'));
  throw new DataValidationError(`There is no topic '${topic}' in ${client.name}.`, {
    code: 'engine-failed',
    context: { engine: client.name, topic, reason: 'statement' },
    suggestion:
      own.length === 0
        ? 'The user sees no topic. Create it, or give the user the right to read it.'
        : suggestNames(topic, own, 'topics'),
  });
}

function assertBroker(broker: string): void {
  if (typeof broker === 'string' && BROKER.test(broker) && Number(broker.split(':').at(-1)) <= 65_535) return;
  throw new ConfigValidationError('The address of a Kafka broker is not valid.', {
    // The address may contain a password, so it is not repeated.
    context: { parameter: 'brokers', expected: 'host:port' },
    suggestion: 'Write host:port, as in 127.0.0.1:9092. Several brokers are separated by commas.',
  });
}

function loginOf(mechanism: KafkaSasl, env: Readonly<Record<string, string | undefined>>): object | undefined {
  const username = env['EVENHAND_KAFKA_USERNAME'];
  const password = readSecret(env, 'EVENHAND_KAFKA_PASSWORD');
  if ((username ?? '') === '' && password === undefined) return undefined;
  if (password === undefined || (username ?? '') === '') {
    const missing = password === undefined ? 'EVENHAND_KAFKA_PASSWORD' : 'EVENHAND_KAFKA_USERNAME';
    throw new ConfigValidationError(`The environment variable ${missing} is not set.`, {
      context: { parameter: missing },
      suggestion:
        'Set EVENHAND_KAFKA_USERNAME, and EVENHAND_KAFKA_PASSWORD or EVENHAND_KAFKA_PASSWORD_FILE, or neither.',
    });
  }
  return { mechanism, username, password };
}

/** Errors that another attempt cannot fix: the user, the password or the rights are wrong. */
const DENIED = /SASL|AUTHORIZATION_FAILED|Not authorized|certificate|SSL routines/i;

/** Returns whether an error of kafkajs can only be fixed by the user. */
export function isDenied(error: unknown): boolean {
  return DENIED.test(factsOf(error));
}

/** Returns the names, types and messages of an error and its causes, as one text. */
function factsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { name, message, cause } = error;
  const type = (error as { readonly type?: unknown }).type;
  return [name, type, message, cause === undefined ? '' : factsOf(cause)].filter(Boolean).join(' ');
}

/** Returns the reason of an error of kafkajs as a sentence without a full stop. */
export function kafkaReason(error: unknown): string {
  return oneLine(error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
}

/** Returns the error for a request that Kafka did not answer, or refused. */
export function kafkaError(name: string, cause: unknown): DataValidationError {
  if (cause instanceof DataValidationError) return cause;
  const denied = isDenied(cause);
  return new DataValidationError(
    `${name} ${denied ? 'does not accept the user, the password or the certificate' : 'does not answer'}: ${kafkaReason(cause)}.`,
    {
      code: 'engine-failed',
      context: { engine: name, reason: denied ? 'denied' : 'unreachable' },
      suggestion: denied
        ? 'Set EVENHAND_KAFKA_USERNAME and EVENHAND_KAFKA_PASSWORD, and choose the mechanism with --kafka-sasl. For TLS, NODE_EXTRA_CA_CERTS names a file with further certificate authorities.'
        : 'Check the addresses, and that Kafka is running and reachable from here. If it expects TLS, add --kafka-tls.',
      cause,
    },
  );
}
