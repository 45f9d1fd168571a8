import { createRequire } from 'node:module';

import type { EngineResult, SqlEngine } from '../../../src/io/index.ts';
import { clickhouseLiteral, clickhouseTable, inBackticks, type RunningEngine } from '../engines.ts';
import { cached } from './programs.ts';

/** The folder of the package, relative to the folder of {@link cached}. */
const CHDB = 'chdb-3.4.0/node_modules/chdb';

interface ChdbModule {
  readonly Session: new () => ChdbSession;
}

interface ChdbSession {
  query(sql: string, format?: string): string;
  cleanup(): void;
}

/** The current ClickHouse in this process. */
export function openChdb(): SqlEngine & Pick<RunningEngine, 'create'> {
  const { Session } = createRequire(import.meta.url)(cached(CHDB)) as ChdbModule;
  const session = new Session();
  session.query('SET output_format_json_quote_denormals = 1');
  return {
    name: 'chdb',
    dialect: 'clickhouse',
    query(sql) {
      const { meta, data } = JSON.parse(session.query(sql, 'JSONCompact')) as {
        readonly meta: readonly { readonly name: string }[];
        readonly data: EngineResult['rows'];
      };
      return Promise.resolve({ columns: meta.map(({ name }) => name), rows: data });
    },
    close() {
      session.cleanup();
      return Promise.resolve();
    },
    create(table, columns, rows) {
      session.query(clickhouseTable(table, columns));
      const values = rows.map((row) => `(${row.map(clickhouseLiteral).join(', ')})`);
      session.query(`INSERT INTO ${inBackticks(table)} VALUES ${values.join(', ')}`);
      return Promise.resolve();
    },
  };
}
