import './styles.css';

import { type JSX, render } from 'preact';
import { useRef, useState } from 'preact/hooks';

import { VERSION } from '../../../src/internal/version.ts';
import type { OpenedFile } from '../engine/protocol.ts';
import { AuditPage } from './audit.tsx';
import { EngineClient } from './client.ts';
import { ResultsPage } from './results-page.tsx';
import { applyTheme, chosenTheme, type Theme } from './theme.ts';
import { TradeOffPage } from './trade-off.tsx';

const THEMES: readonly { readonly theme: Theme; readonly text: string }[] = [
  { theme: 'auto', text: 'Colours of the system' },
  { theme: 'light', text: 'Light' },
  { theme: 'dark', text: 'Dark' },
];

/** The pages, by the start of the address after `#`. */
const PAGES = [
  { name: 'audit', title: 'Audit' },
  { name: 'trade-off', title: 'Trade-off' },
  { name: 'results', title: 'Results' },
] as const;

type PageName = (typeof PAGES)[number]['name'];

/** Only a service has results of runs. */
const SHOWN = PAGES.filter(({ name }) => name !== 'results' || document.documentElement.dataset['host'] === 'service');

function pageOfAddress(): PageName {
  return SHOWN.find(({ name }) => location.hash.startsWith(`#${name}`))?.name ?? 'audit';
}

function App({ client }: { readonly client: EngineClient }): JSX.Element {
  const [theme, setTheme] = useState(chosenTheme);
  const [page, setPage] = useState(pageOfAddress);
  const [file, setFile] = useState<OpenedFile>();
  /** The address of the other page, with its settings. */
  const [kept, setKept] = useState<Partial<Record<PageName, string>>>({});
  /** The file of the trade-off, which is kept, with its networks, while another page is shown. */
  const trained = useRef<{ readonly file: OpenedFile | undefined; readonly opening: number }>(undefined);
  if (page === 'trade-off' && (trained.current === undefined || trained.current.file !== file)) {
    trained.current = { file, opening: (trained.current?.opening ?? 0) + 1 };
  }
  const show = (name: PageName): void => {
    if (name === page) return;
    setKept({ ...kept, [page]: location.hash });
    history.replaceState(null, '', kept[name] ?? `#${name}`);
    setPage(name);
  };
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href="./" onClick={startAgain}>
          <svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
            <rect width="32" height="32" rx="7" fill="currentColor" />
            <path class="bars" d="M8 12h16M8 20h16" stroke-width="3.4" stroke-linecap="round" />
          </svg>
          evenhand <span>workbench</span>
        </a>
        <nav aria-label="Pages">
          {SHOWN.map(({ name, title }) => (
            <a
              key={name}
              href={`#${name}`}
              aria-current={name === page ? 'page' : undefined}
              onClick={(event) => {
                event.preventDefault();
                show(name);
              }}
            >
              {title}
            </a>
          ))}
        </nav>
        <label class="theme">
          <span class="visually-hidden">Colours</span>
          <select
            value={theme}
            onChange={(event) => {
              const chosen = event.currentTarget.value as Theme;
              setTheme(chosen);
              applyTheme(chosen);
            }}
          >
            {THEMES.map(({ theme: value, text }) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
      </header>
      <main id="main">
        <div hidden={page !== 'audit'}>
          <AuditPage client={client} onFile={setFile} />
        </div>
        {trained.current !== undefined && (
          <div hidden={page !== 'trade-off'}>
            <TradeOffPage
              key={trained.current.opening}
              client={client}
              file={trained.current.file}
              onAudit={() => {
                show('audit');
              }}
            />
          </div>
        )}
        {page === 'results' && <ResultsPage client={client} />}
      </main>
      <footer class="bottom">
        <p>
          evenhand {VERSION}. A gap is a reason to investigate; it does not by itself prove unfair treatment, and the
          absence of a gap does not prove fair treatment.
        </p>
      </footer>
    </>
  );
}

/** Moves the focus without changing the address, which holds the settings. */
function skip(event: Event): void {
  event.preventDefault();
  const main = document.getElementById('main');
  main?.setAttribute('tabindex', '-1');
  main?.focus();
}

/** Loads the page again without settings. */
function startAgain(event: Event): void {
  event.preventDefault();
  history.replaceState(null, '', location.pathname + location.search);
  location.reload();
}

applyTheme(chosenTheme());
const root = document.getElementById('app');
root?.replaceChildren();
if (root !== null) render(<App client={new EngineClient()} />, root);

// A server of evenhand sends new files with each version, and a page of a file has none.
if (document.documentElement.dataset['host'] === 'static' && isSecureContext && import.meta.env.PROD) {
  navigator.serviceWorker.register('./service-worker.js').catch(() => undefined);
}
