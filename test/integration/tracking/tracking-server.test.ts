import { expect } from 'chai';

import { logFairnessMetrics } from '../../../src/integration/tracking/index.ts';
import { findTrackingServer } from '../../../src/integration/tracking/tracking-server.ts';
import { demographicParityDifference } from '../../../src/metrics/index.ts';
import { useLoggedWarnings } from '../../helpers/logged-warnings.ts';
import { MlflowStub, send } from '../../helpers/mlflow-stub.ts';

describe('the address of a tracking server', () => {
  const ADDRESSES: readonly (readonly [uri: string, address: string])[] = [
    ['http://localhost:5000', 'http://localhost:5000'],
    ['https://mlflow.example.org/', 'https://mlflow.example.org'],
    ['https://example.org/ml/flow//', 'https://example.org/ml/flow'],
    ['HTTP://Example.org', 'http://example.org'],
    [' http://localhost:5000\n', 'http://localhost:5000'],
    ['http://user:pass@localhost:5000/a?token=x#y', 'http://localhost:5000/a'],
    ['http://[::1]:5000', 'http://[::1]:5000'],
  ];
  for (const [uri, address] of ADDRESSES) {
    it(`${JSON.stringify(uri)} is ${address}`, () => {
      expect(findTrackingServer(uri, {}).address).to.equal(address);
    });
  }

  const OTHERS: readonly (readonly [uri: string | undefined, reason: RegExp])[] = [
    [undefined, /no server is configured: set MLFLOW_TRACKING_URI/],
    ['', /no server is configured/],
    [' ', /no server is configured/],
    ['file:./mlruns', /not 'file:'; for runs in files or in a database, start 'mlflow server'/],
    ['sqlite:///secret.db', /not 'sqlite:'/],
    ['postgresql://user:secret@db/mlflow', /not 'postgresql:'/],
    ['databricks', /not a name or a path/],
    ['databricks://secret', /not 'databricks:'/],
    ['./mlruns', /not a name or a path/],
    ['localhost:5000', /not 'localhost:'/],
    ['http://', /not a valid URL/],
    ['http://user:secret@:99999', /not a valid URL/],
  ];
  for (const [uri, reason] of OTHERS) {
    it(`cannot be ${JSON.stringify(uri)}, and the reason shows no credentials`, () => {
      expect(() => findTrackingServer(uri, {})).to.throw(reason);
      expect(() => findTrackingServer(uri, {})).not.to.throw(/secret/);
    });
  }

  it('comes from MLFLOW_TRACKING_URI if none is given', () => {
    const environment = { MLFLOW_TRACKING_URI: 'http://a' };
    expect(findTrackingServer(undefined, environment).address).to.equal('http://a');
    expect(findTrackingServer('http://b', environment).address).to.equal('http://b');
  });
});

describe('credentials', () => {
  // From RFC 7617, section 2.
  const ALADDIN = 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==';
  const pair = { MLFLOW_TRACKING_USERNAME: 'Aladdin', MLFLOW_TRACKING_PASSWORD: 'open sesame' };
  const token = { MLFLOW_TRACKING_TOKEN: 'abc.def' };
  const CASES: readonly (readonly [title: string, uri: string, environment: object, header: string | undefined])[] = [
    ['are none by default', 'http://a', {}, undefined],
    ['are a user and a password', 'http://a', pair, ALADDIN],
    ['are a token', 'http://a', token, 'Bearer abc.def'],
    ['are the password if there is a token too', 'http://a', { ...pair, ...token }, ALADDIN],
    ['need both parts of the pair', 'http://a', { ...token, MLFLOW_TRACKING_USERNAME: 'x' }, 'Bearer abc.def'],
    ['in the address come first', 'http://Aladdin:open%20sesame@a', { ...token }, ALADDIN],
    // From RFC 7617, section 2.1: the password 123£ in UTF-8.
    ['are sent as UTF-8', 'http://test:123%C2%A3@a', {}, 'Basic dGVzdDoxMjPCow=='],
    ['that are not encoded correctly are used unchanged', 'http://a:%@a', {}, 'Basic YTol'],
  ];
  for (const [title, uri, environment, header] of CASES) {
    it(title, () => {
      expect(findTrackingServer(uri, environment as Record<string, string>).authorization).to.equal(header);
    });
  }

  it('with characters that are invalid in a header are reported, not shown', () => {
    expect(() => findTrackingServer('http://a', { MLFLOW_TRACKING_TOKEN: 'sec\nret' })).to.throw(
      'MLFLOW_TRACKING_TOKEN has characters that an HTTP header cannot hold',
    );
  });

  describe('sent in requests', () => {
    const warnings = useLoggedWarnings();
    const server = new MlflowStub();
    let address = '';
    before(async () => (address = await server.start()));
    after(() => server.stop());

    it('are not in the log even if the server repeats them', async () => {
      server.behave = ({ headers }, response) => {
        const { authorization = '' } = headers;
        const decoded = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString();
        send(response, 400, { message: `refused ${authorization} that is ${decoded}` });
        return undefined;
      };
      const result = demographicParityDifference([1, 0], ['a', 'b'], { minGroupSize: 1 });
      const trackingUri = address.replace('//', '//me:hunter2@');
      expect(await logFairnessMetrics(result, { trackingUri })).to.equal(false);
      expect(server.requests[0]?.headers.authorization).to.equal(`Basic ${btoa('me:hunter2')}`);
      expect(warnings()).to.deep.equal([
        'MLflow tracking failed: the server answered HTTP 400, refused Basic *** that is me:***',
      ]);
    });
  });
});
