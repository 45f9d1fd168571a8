import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';

import kafkajs from 'kafkajs';

import { freePort } from './mlflow-server.ts';
import { killServer, untilOpen } from './servers.ts';

const CACHE = process.env['EVENHAND_ENGINES_CACHE'] ?? path.join(homedir(), '.cache/evenhand/engines');
const JARS = path.join(CACHE, 'kafka-3.9.1/libs');

const PASSWORD = 'well-guarded';

/** The number of messages in a request. kafkajs groups them in time that grows with the square of this number. */
const SENT_AT_ONCE = 1000;

/** The user of the listeners with authentication. */
export const KAFKA_USER = { username: 'ana', password: PASSWORD };

/** A Kafka server that runs for the tests, on free ports of this machine. It keeps its data when it is killed. */
export interface RunningKafka {
  /** The address without authentication. */
  readonly broker: string;
  /** The address with authentication (PLAIN and SCRAM-SHA-256), and the same with TLS. */
  readonly saslBroker: string;
  readonly tlsBroker: string;
  /** The certificate of the address with TLS. */
  readonly certificate: string;
  /** Creates a topic, and returns a function that sends messages to it. */
  createTopic(topic: string, partitions: number): Promise<SendMessages>;
  /** Returns a client of kafkajs for the address without authentication. */
  client(): KafkaAdminClient;
  /** Ends the server without a warning, as a lost machine would. */
  readonly kill: () => Promise<void>;
  /** Starts the server again with its data, on the same ports. */
  readonly start: () => Promise<void>;
}

/** The part of kafkajs that is used here. Its types are not visible, because the package is optional. */
interface KafkaAdminClient {
  admin(): {
    connect(): Promise<void>;
    listTopics(): Promise<string[]>;
    createTopics(options: object): Promise<boolean>;
    fetchTopicOffsets(topic: string): Promise<unknown>;
    setOffsets(options: object): Promise<void>;
    deleteTopicRecords(options: object): Promise<void>;
    disconnect(): Promise<void>;
  };
  producer(options: object): {
    connect(): Promise<void>;
    send(options: object): Promise<unknown>;
    transaction(): Promise<{
      send(options: object): Promise<unknown>;
      commit(): Promise<void>;
      abort(): Promise<void>;
    }>;
    disconnect(): Promise<void>;
  };
}

/** Sends messages to a partition of a topic. */
type SendMessages = (partition: number, messages: readonly (string | Buffer)[]) => Promise<void>;

/** Why Kafka cannot be started here; undefined if it can. */
function missingPart(): string | undefined {
  if (spawnSync('java', ['-version'], { timeout: 20_000 }).status !== 0) return 'Java is not on the PATH';
  return existsSync(JARS) ? undefined : `${JARS} does not exist; scripts/kafka.sh installs it`;
}

/**
 * Describes a suite that needs Kafka, which is started before it and ended after it. If Kafka is not installed, the suite
 * is skipped with the reason, or fails if EVENHAND_REQUIRE_KAFKA is 1.
 */
export function describeWithKafka(title: string, suite: (kafka: () => RunningKafka) => void): void {
  describe(`${title}: Kafka @slow`, () => {
    const missing = missingPart();
    if (missing !== undefined) {
      it(`needs Kafka: ${missing}`, function () {
        if (process.env['EVENHAND_REQUIRE_KAFKA'] === '1')
          throw new Error(`EVENHAND_REQUIRE_KAFKA is 1, but ${missing}`);
        this.skip();
      });
      return;
    }
    let server: KafkaProcess | undefined;
    before(async function () {
      this.timeout(120_000);
      server = await KafkaProcess.create();
      await server.start();
    });
    after(async () => {
      await server?.remove();
    });
    suite(() => server as KafkaProcess);
  });
}

const OPTIONS = [
  '-Xmx640m',
  '-Xms128m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-Djava.net.preferIPv4Stack=true',
];

class KafkaProcess implements RunningKafka {
  readonly #folder: string;
  readonly #ports: readonly number[];
  readonly certificate: string;
  #child: ChildProcess | undefined;
  #log = '';

  private constructor(folder: string, ports: readonly number[]) {
    this.#folder = folder;
    this.#ports = ports;
    this.certificate = path.join(folder, 'certificate.pem');
  }

  static async create(): Promise<KafkaProcess> {
    const folder = mkdtempSync(path.join(tmpdir(), 'evenhand-kafka-'));
    const server = new KafkaProcess(folder, [await freePort(), await freePort(), await freePort(), await freePort()]);
    server.#makeCertificate();
    server.#format();
    return server;
  }

  get broker(): string {
    return `127.0.0.1:${String(this.#ports[0])}`;
  }

  get saslBroker(): string {
    return `127.0.0.1:${String(this.#ports[1])}`;
  }

  get tlsBroker(): string {
    return `127.0.0.1:${String(this.#ports[2])}`;
  }

  readonly start = async (): Promise<void> => {
    const args = [...OPTIONS, `-Dlog4j.configuration=file:${this.#folder}/log4j.properties`];
    const child = spawn('java', [...args, '-cp', `${JARS}/*`, 'kafka.Kafka', `${this.#folder}/server.properties`], {
      cwd: this.#folder,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (part: Buffer) => (this.#log = `${this.#log}${String(part)}`.slice(-8000)));
    }
    await untilOpen(this.#ports[0] as number, child, () => this.#log);
    // The port is open before the broker is ready.
    const admin = this.client().admin();
    await admin.connect();
    await admin.listTopics();
    await admin.disconnect();
  };

  readonly kill = (): Promise<void> => killServer(this.#child);

  async createTopic(topic: string, partitions: number): Promise<SendMessages> {
    const admin = this.client().admin();
    await admin.connect();
    await admin.createTopics({ topics: [{ topic, numPartitions: partitions, replicationFactor: 1 }], timeout: 30_000 });
    await admin.disconnect();
    return async (partition, messages) => {
      const producer = this.client().producer({ allowAutoTopicCreation: false });
      await producer.connect();
      for (let from = 0; from < messages.length; from += SENT_AT_ONCE) {
        const part = messages.slice(from, from + SENT_AT_ONCE);
        await producer.send({ topic, messages: part.map((value) => ({ value, partition })) });
      }
      await producer.disconnect();
    };
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  client(): KafkaAdminClient {
    const { Kafka, logLevel } = kafkajs as {
      Kafka: new (options: object) => KafkaAdminClient;
      logLevel: { NOTHING: number };
    };
    return new Kafka({
      brokers: [this.broker],
      logLevel: logLevel.NOTHING,
      retry: { retries: 12, maxRetryTime: 2000 },
    });
  }

  /** Creates the key of the listener with TLS, and writes its certificate. */
  #makeCertificate(): void {
    const store = [
      '-alias',
      'kafka',
      '-storetype',
      'PKCS12',
      '-keystore',
      `${this.#folder}/key.p12`,
      '-storepass',
      PASSWORD,
    ];
    execFileSync('keytool', ['-genkeypair', ...store, '-keyalg', 'RSA', '-dname', 'CN=localhost', '-ext', 'san=ip:127.0.0.1', '-validity', '30'], { stdio: 'ignore', timeout: 60_000 }); // prettier-ignore
    const pem = execFileSync('keytool', ['-exportcert', '-rfc', ...store], {
      timeout: 60_000,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    writeFileSync(this.certificate, pem);
  }

  #format(): void {
    const [plain, sasl, tls, controller] = this.#ports.map((port) => `127.0.0.1:${String(port)}`);
    const jaas = (module: string, more = ''): string => `org.apache.kafka.common.security.${module} required ${more};`;
    const settings = {
      'process.roles': 'broker,controller',
      'node.id': 1,
      'controller.quorum.voters': `1@${String(controller)}`,
      'controller.listener.names': 'CONTROLLER',
      'inter.broker.listener.name': 'PLAIN',
      listeners: `PLAIN://${String(plain)},SASL://${String(sasl)},TLS://${String(tls)},CONTROLLER://${String(controller)}`,
      'advertised.listeners': `PLAIN://${String(plain)},SASL://${String(sasl)},TLS://${String(tls)}`,
      'listener.security.protocol.map': 'PLAIN:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT,TLS:SASL_SSL',
      'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256',
      ...Object.fromEntries(
        ['sasl', 'tls'].flatMap((name) => [
          [`listener.name.${name}.plain.sasl.jaas.config`, jaas('plain.PlainLoginModule', `user_ana="${PASSWORD}"`)],
          [`listener.name.${name}.scram-sha-256.sasl.jaas.config`, jaas('scram.ScramLoginModule')],
        ]),
      ),
      'listener.name.tls.ssl.keystore.location': `${this.#folder}/key.p12`,
      'listener.name.tls.ssl.keystore.type': 'PKCS12',
      'listener.name.tls.ssl.keystore.password': PASSWORD,
      'listener.name.tls.ssl.key.password': PASSWORD,
      'log.dirs': `${this.#folder}/data`,
      'offsets.topic.replication.factor': 1,
      'offsets.topic.num.partitions': 1,
      'transaction.state.log.replication.factor': 1,
      'transaction.state.log.min.isr': 1,
      'transaction.state.log.num.partitions': 1,
      'group.initial.rebalance.delay.ms': 0,
      'group.min.session.timeout.ms': 500,
      'auto.create.topics.enable': false,
      'message.max.bytes': 8 * 2 ** 20,
    };
    const text = Object.entries(settings).map(([name, value]) => `${name}=${String(value)}\n`);
    writeFileSync(`${this.#folder}/server.properties`, text.join(''));
    writeFileSync(
      `${this.#folder}/log4j.properties`,
      'log4j.rootLogger=WARN, out\nlog4j.appender.out=org.apache.log4j.ConsoleAppender\nlog4j.appender.out.layout=org.apache.log4j.SimpleLayout\n',
    );
    const format = ['format', '-t', 'evenhand-tests-000000w', '-c', `${this.#folder}/server.properties`];
    const scram = ['--add-scram', `SCRAM-SHA-256=[name=ana,password=${PASSWORD}]`];
    execFileSync('java', [...OPTIONS, '-cp', `${JARS}/*`, 'kafka.tools.StorageTool', ...format, ...scram], {
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: 60_000,
    });
  }
}
