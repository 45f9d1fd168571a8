import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';

import { ConfigValidationError } from '../exceptions/index.ts';
import { assertKnownOptions, type OptionNames } from '../internal/arguments.ts';
import { isMapping, parseObject, valueAt } from '../internal/values.ts';
import { checksumOf } from '../io/checksum.ts';
import { embeddedReport } from './validation-html.ts';
import type { VerificationCheck } from './verify-report.ts';

/** The type of the signed content: an in-toto statement. */
const PAYLOAD_TYPE = 'application/vnd.in-toto+json';
const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';
/** The result of tests, which the gates of a report are. */
const PREDICATE_TYPE = 'https://in-toto.io/attestation/test-result/v0.1';

/** A new pair of keys as PEM. */
export interface ReportKeys {
  /** PKCS #8, encrypted if there is a password. It must stay secret. */
  readonly privateKey: string;
  /** SPKI. It is needed to verify reports; get it from a source that you trust. */
  readonly publicKey: string;
  /** The SHA-256 of the public key, which names it. */
  readonly keyId: string;
}

/**
 * Generates a pair of Ed25519 keys for signed reports.
 * @param password encrypts the private key (PBES2, AES-256)
 */
export function generateReportKeys(password?: string): ReportKeys {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const encryption = password === undefined ? {} : { cipher: 'aes-256-cbc', passphrase: password };
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem', ...encryption }).toString(),
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    keyId: keyIdOf(publicKey),
  };
}

/** Options of {@link signReport}. */
export interface SignReportOptions {
  /** The private key as PEM. */
  readonly privateKey: string;
  /**
   * The password of the private key.
   * @defaultValue none: the key is not encrypted
   */
  readonly password?: string | undefined;
  /** The name of the file, which is part of what is signed. */
  readonly name: string;
}

const SIGN_REPORT_NAMES: OptionNames<SignReportOptions> = { privateKey: true, password: true, name: true };

/**
 * Signs the bytes of a report with Ed25519. The result is a DSSE envelope around an in-toto statement (test result), which
 * other tools can read too: it names the file, its SHA-256, the gates that passed and failed, and the checksums of the
 * input files.
 *
 * A signature says who vouches for a report, not that the report is right: check its numbers with `verifyReport`.
 * @param report the text or the bytes of the report
 * @returns the envelope as JSON, which belongs next to the report as `<name>.dsse.json`
 * @throws {ConfigValidationError} if the key cannot be read, or is not an Ed25519 key
 * @see https://github.com/secure-systems-lab/dsse, https://github.com/in-toto/attestation
 * @example
 * ```ts
 * import { generateReportKeys, signReport, verifySignature } from 'evenhand';
 *
 * const { privateKey, publicKey } = generateReportKeys();
 * const envelope = signReport('{"passed":true}', { privateKey, name: 'report.json' });
 * console.log(verifySignature('{"passed":true}', envelope, publicKey).passed);
 * // true
 * console.log(verifySignature('{"passed":false}', envelope, publicKey).passed);
 * // false
 * ```
 */
export function signReport(report: string | Uint8Array, options: SignReportOptions): string {
  assertKnownOptions('signReport', options, SIGN_REPORT_NAMES);
  const key = readKey(options.privateKey, options.password);
  const statement = {
    _type: STATEMENT_TYPE,
    subject: [{ name: options.name, digest: { sha256: checksumOf(report) } }],
    predicateType: PREDICATE_TYPE,
    predicate: predicateOf(report),
  };
  const payload = Buffer.from(JSON.stringify(statement));
  const signature = sign(null, preAuthentication(payload), key);
  const envelope = {
    payload: payload.toString('base64'),
    payloadType: PAYLOAD_TYPE,
    signatures: [{ keyid: keyIdOf(createPublicKey(key)), sig: signature.toString('base64') }],
  };
  return `${JSON.stringify(envelope, undefined, 2)}\n`;
}

/**
 * Checks the signature of a report.
 * @param report the text of the report
 * @param envelope the text that {@link signReport} returned
 * @param publicKey the public key as PEM
 * @throws {ConfigValidationError} if the key cannot be read
 */
export function verifySignature(report: string, envelope: string, publicKey: string): VerificationCheck {
  const key = readPublicKey(publicKey);
  const fail = (message: string): VerificationCheck => ({ name: 'signature', passed: false, message, differences: [] });
  const json = parseObject(envelope);
  const { payload, payloadType, signatures } = json ?? {};
  if (typeof payload !== 'string' || payloadType !== PAYLOAD_TYPE || !Array.isArray(signatures)) {
    return fail('The signature file is not a DSSE envelope of an in-toto statement.');
  }
  const content = Buffer.from(payload, 'base64');
  const keyId = keyIdOf(key);
  const isSigned = signatures.some((one: unknown) => {
    const sig = isMapping(one) ? one['sig'] : undefined;
    return typeof sig === 'string' && verify(null, preAuthentication(content), key, Buffer.from(sig, 'base64'));
  });
  if (!isSigned) {
    const named = signatures.map((one) => valueAt(one, ['keyid'])).join(', ');
    const isOther = !named.includes(keyId);
    return fail(
      isOther
        ? `The report was not signed with this key (${keyId.slice(0, 16)}…), but with ${named.slice(0, 16)}….`
        : 'The signature is wrong: what was signed, or the signature, was changed.',
    );
  }
  const statement = parseObject(content.toString());
  const subject = valueAt(statement, ['subject']);
  const digests = Array.isArray(subject) ? subject.map((one) => valueAt(one, ['digest', 'sha256'])) : [];
  if (!digests.includes(checksumOf(report)))
    return fail('The report was changed after it was signed (another SHA-256).');
  return { name: 'signature', passed: true, message: `Signed with the key ${keyId.slice(0, 16)}….`, differences: [] };
}

/** Returns what is signed: the type and the content with their lengths (DSSE version 1). */
function preAuthentication(payload: Buffer): Buffer {
  const head = `DSSEv1 ${String(Buffer.byteLength(PAYLOAD_TYPE))} ${PAYLOAD_TYPE} ${String(payload.length)} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

/** Returns the verdict, the gates and the input files of a report; an empty result for a report without them. */
function predicateOf(given: string | Uint8Array): Record<string, unknown> {
  const report = typeof given === 'string' ? given : Buffer.from(given).toString();
  const body = report.trimStart().startsWith('<') ? embeddedReport(report)?.report : parseObject(report);
  const passed = body?.['passed'];
  const gates = Array.isArray(body?.['gates']) ? (body['gates'] as readonly Record<string, unknown>[]) : [];
  const inputs = valueAt(body, ['manifest', 'inputs']);
  const named = (isPassed: boolean): string[] =>
    gates
      .filter((gate) => (gate['passed'] === true) === isPassed)
      .map(({ metric, comparator, threshold, attribute }) =>
        [metric, comparator, threshold, 'by', attribute].map(String).join(' '),
      );
  return {
    // Without gates there is nothing that failed, but a report without a verdict must not look like one that passed.
    result: passed === true ? 'PASSED' : passed === false ? 'FAILED' : 'WARNED',
    configuration: Array.isArray(inputs)
      ? inputs.flatMap((one: unknown) => {
          const [name, sha256] = [valueAt(one, ['path']), valueAt(one, ['sha256'])];
          return typeof sha256 === 'string' ? [{ name, digest: { sha256 } }] : [];
        })
      : [],
    passedTests: named(true),
    failedTests: named(false),
  };
}

function keyIdOf(publicKey: KeyObject): string {
  return checksumOf(publicKey.export({ type: 'spki', format: 'der' }));
}

function readKey(pem: string, password: string | undefined): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: pem, passphrase: password });
  } catch (cause) {
    throw badKey('private', 'It may be encrypted with another password, or not be a private key in PEM.', cause);
  }
  if (key.asymmetricKeyType === 'ed25519') return key;
  throw badKey('private', `It is a key for ${key.asymmetricKeyType ?? 'something else'}, not for Ed25519.`);
}

function readPublicKey(pem: string): KeyObject {
  // Node would derive the public key from a private one, which nobody should hand out.
  if (pem.includes('PRIVATE KEY'))
    throw badKey('public', 'It is a private key: keep it secret, and give the public key.');
  let key: KeyObject;
  try {
    key = createPublicKey(pem);
  } catch (cause) {
    throw badKey('public', 'It is not a public key in PEM.', cause);
  }
  if (key.asymmetricKeyType === 'ed25519') return key;
  throw badKey('public', `It is a key for ${key.asymmetricKeyType ?? 'something else'}, not for Ed25519.`);
}

function badKey(kind: 'private' | 'public', reason: string, cause?: unknown): ConfigValidationError {
  return new ConfigValidationError(`The ${kind} key cannot be used. ${reason}`, {
    context: { parameter: 'key' },
    suggestion: "Create a pair of keys with 'evenhand keygen'.",
    cause,
  });
}
