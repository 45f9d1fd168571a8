import { expect } from 'chai';

import { type AwsCredentials, signAwsRequest } from '../../../src/llm-evals/client/sign-aws-request.ts';

const KEYS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: null,
};
const SUITE_TIME = new Date('2015-08-30T12:36:00Z');
const FORM = 'application/x-www-form-urlencoded';
const SUITE_TOKEN =
  'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==';

interface Vector {
  readonly title: string;
  readonly method: string;
  readonly address: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly token?: string;
  readonly region?: string;
  readonly service?: string;
  readonly now?: Date;
  readonly names: string;
  readonly signature: string;
}

const SUITE: readonly Vector[] = [
  // The Signature Version 4 test suite of AWS (aws-sig-v4-test-suite.zip).
  {
    title: 'get-vanilla',
    method: 'GET',
    address: 'https://example.amazonaws.com/',
    names: 'host;x-amz-date',
    signature: '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  },
  {
    title: 'post-vanilla',
    method: 'POST',
    address: 'https://example.amazonaws.com/',
    names: 'host;x-amz-date',
    signature: '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  },
  {
    title: 'get-vanilla-query-order-key-case',
    method: 'GET',
    address: 'https://example.amazonaws.com/?Param2=value2&Param1=value1',
    names: 'host;x-amz-date',
    signature: 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  },
  {
    title: 'get-header-value-trim',
    method: 'GET',
    address: 'https://example.amazonaws.com/',
    headers: { 'my-header1': ' value1', 'my-header2': ' "a   b   c"' },
    names: 'host;my-header1;my-header2;x-amz-date',
    signature: 'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
  },
  {
    title: 'post-x-www-form-urlencoded',
    method: 'POST',
    address: 'https://example.amazonaws.com/',
    headers: { 'content-type': FORM },
    body: 'Param1=value1',
    names: 'content-type;host;x-amz-date',
    signature: 'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  },
  {
    title: 'post-sts-header-before',
    method: 'POST',
    address: 'https://example.amazonaws.com/',
    token: SUITE_TOKEN,
    names: 'host;x-amz-date;x-amz-security-token',
    signature: '85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead',
  },
  // The example of "Signing AWS requests with Signature Version 4" in the AWS General Reference.
  {
    title: 'ListUsers of IAM',
    method: 'GET',
    address: 'https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08',
    headers: { 'content-type': `${FORM}; charset=utf-8` },
    service: 'iam',
    names: 'content-type;host;x-amz-date',
    signature: '5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
  },
];

// SigV4Auth of botocore 1.44.8, with the same keys. The path of the model is encoded twice.
const CONVERSE = {
  method: 'POST',
  address: 'https://bedrock-runtime.eu-central-1.amazonaws.com/model/anthropic.claude-3-haiku-20240307-v1%3A0/converse',
  headers: { 'content-type': 'application/json' },
  body: '{"messages":[]}',
  region: 'eu-central-1',
  service: 'bedrock',
  now: new Date('2026-01-31T12:00:00Z'),
};
const BOTOCORE: readonly Vector[] = [
  {
    title: 'Converse',
    ...CONVERSE,
    names: 'content-type;host;x-amz-date',
    signature: 'e3f489352ed2801d5abd3cd2ac848d648d71fde5f8645e9868abdc88ad15d504',
  },
  {
    title: 'Converse with temporary credentials',
    ...CONVERSE,
    token: 'a-session-token',
    names: 'content-type;host;x-amz-date;x-amz-security-token',
    signature: '863005510c7abeebafc2d323b0ddd0ac4676171ce93aaa93b7ea91a81cec653f',
  },
];

describe('signAwsRequest', () => {
  for (const [source, vectors] of Object.entries({ AWS: SUITE, botocore: BOTOCORE })) {
    for (const { title, names, signature, ...given } of vectors) {
      it(`gives the signature of ${source}: ${title}`, () => {
        const { region = 'us-east-1', service = 'service', now = SUITE_TIME, token = null } = given;
        const credentials: AwsCredentials = { ...KEYS, sessionToken: token, region };
        const { method, address, headers = {}, body = '' } = given;
        const date = now.toISOString().replaceAll(/[-:]|\.000/g, '');
        const scope = `${date.slice(0, 8)}/${region}/${service}/aws4_request`;
        expect(signAwsRequest({ method, address, headers, body }, credentials, service, now)).to.deep.equal({
          'x-amz-date': date,
          ...(token === null ? {} : { 'x-amz-security-token': token }),
          authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/${scope}, SignedHeaders=${names}, Signature=${signature}`,
        });
      });
    }
  }
});
