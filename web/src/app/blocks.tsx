import type { ComponentChildren, JSX } from 'preact';

import type { ReportBlock, ReportTable } from '../../../src/document/report-document.ts';

/** Shows blocks of a report. Charts are shown elsewhere. */
export function Blocks({ blocks }: { readonly blocks: readonly ReportBlock[] }): JSX.Element {
  return <>{blocks.map((block, index) => oneBlock(block, index))}</>;
}

function oneBlock(block: ReportBlock, key: number): ComponentChildren {
  switch (block.kind) {
    case 'heading':
      return <h3 key={key}>{block.text}</h3>;
    case 'paragraph':
      return <p key={key}>{block.text}</p>;
    case 'list':
      return <List key={key} items={block.items} />;
    case 'code':
      return <pre key={key}>{block.text}</pre>;
    case 'note':
      return (
        <div class="note" key={key}>
          <p>
            <strong>{block.title}</strong>
          </p>
          <List items={block.items} />
        </div>
      );
    case 'facts':
      return (
        <dl class="facts" key={key}>
          {block.facts.map(({ name, value, remark }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                {value}
                {remark !== undefined && <small>{remark}</small>}
              </dd>
            </div>
          ))}
        </dl>
      );
    case 'table':
      return <DataTable key={key} table={block} />;
    case 'pairs':
    case 'picture':
      return null;
  }
}

function List({ items }: { readonly items: readonly string[] }): JSX.Element {
  return (
    <ul>
      {items.map((item) => (
        <li key={item}>{item}</li>
      ))}
    </ul>
  );
}

/** Shows a table that scrolls sideways in a narrow window. */
export function DataTable({ table }: { readonly table: Omit<ReportTable, 'kind'> }): JSX.Element {
  const { caption, columns, rows } = table;
  const kind = (index: number): string | undefined => (columns[index]?.isNumber === true ? 'number' : undefined);
  return (
    <div class="scroll" role="group" aria-label={caption} tabIndex={0}>
      <table>
        <caption>
          <span>{caption}</span>
        </caption>
        <thead>
          <tr>
            {columns.map(({ name }, index) => (
              <th key={name} scope="col" class={kind(index)}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((text, column) =>
                column === 0 ? (
                  <th key={column} scope="row">
                    <bdi>{text}</bdi>
                  </th>
                ) : (
                  <td key={column} class={kind(column)}>
                    <bdi>{text}</bdi>
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Shows a picture, which is printed in light colours. */
export function Picture({
  screen,
  paper,
  alt,
}: {
  readonly screen: string | undefined;
  readonly paper: string | undefined;
  readonly alt: string;
}): JSX.Element {
  if (screen === undefined) return <div class="placeholder" />;
  if (paper === undefined || paper === screen) return <img src={screen} alt={alt} />;
  return (
    <>
      <img class="screen-only" src={screen} alt={alt} />
      <img class="print-only" src={paper} alt={alt} />
    </>
  );
}

/** A term with an explanation that opens below it. */
export function Explained({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <details class="explained">
      <summary>{label}</summary>
      <div>{children}</div>
    </details>
  );
}

/** Shows an error: what is wrong, and how to fix it. */
export function ProblemBox({
  problem,
}: {
  readonly problem: { readonly message: string; readonly suggestion?: string | undefined };
}): JSX.Element {
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{problem.message}</strong>
      </p>
      {problem.suggestion !== undefined && <p>{problem.suggestion}</p>}
    </div>
  );
}
