/** The bar above the dashboard: the reports' own colours, dark where the reader prefers it; nothing is said by colour alone. */
export const SHELL_STYLE = `
:root { color-scheme: light dark; --ground: #fff; --ink: #1f2933; --quiet: #52606d; --line: #cbd2d9; --soft: #f5f7fa;
  --accent: #00527f; --good: #00704f; --bad: #b3261e; --warn: #8a5a00; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html, body { height: 100%; margin: 0; }
body { display: flex; flex-direction: column; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 Inter, system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.5rem; padding: .5rem 1.5rem;
  border-bottom: 1px solid var(--line); background: var(--soft); font-size: .9375rem; }
h1 { font-size: 1rem; margin: 0; }
header p { margin: 0; font-variant-numeric: tabular-nums; }
header a { margin-left: auto; }
a { color: var(--accent); }
a:focus-visible, iframe:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
#connection::before { content: "○ "; }
#connection[data-kind="live"]::before { content: "● "; color: var(--good); }
#connection[data-kind="stale"], #connection[data-kind="lost"] { color: var(--warn); font-weight: 600; }
#connection[data-kind="stale"]::before, #connection[data-kind="lost"]::before { content: "▲ "; }
#alerts[data-kind="open"] { color: var(--bad); font-weight: 700; }
#alerts[data-kind="open"]::before { content: "! "; }
#alerts[data-kind="unknown"] { color: var(--warn); }
main { flex: 1; min-height: 0; display: flex; flex-direction: column; }
main > p, main > div.note { margin: 0; padding: .75rem 1.5rem; max-width: 60rem; }
#stale { border-bottom: 1px solid var(--line); max-width: none; font-size: .9375rem; }
code { font-size: .9375em; overflow-wrap: anywhere; }
#frames { flex: 1; min-height: 0; position: relative; }
iframe { position: absolute; inset: 0; width: 100%; height: 100%; border: 0; background: var(--ground); }
iframe.next { visibility: hidden; }
@media (max-width: 40rem) { header { padding: .5rem 1rem; } header a { margin-left: 0; } }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14191f; --ink: #e6ebf0; --quiet: #aab6c2; --line: #3b4652; --soft: #1d242c; --accent: #7cc6f5;
    --good: #5fd6ac; --bad: #ff9d94; --warn: #f0c05a; }
}
`;
