import { useEffect, useState } from 'preact/hooks';

/** The colours that somebody chose: those of the system, or others. */
export type Theme = 'auto' | 'light' | 'dark';

const KEY = 'evenhand-theme';
const CHANGED = 'evenhand-theme-changed';

/** Returns the chosen colours. A page that may not store anything has those of the system. */
export function chosenTheme(): Theme {
  try {
    const stored = localStorage.getItem(KEY);
    return stored === 'light' || stored === 'dark' ? stored : 'auto';
  } catch {
    return 'auto';
  }
}

/** Applies colours, and remembers them. */
export function applyTheme(theme: Theme): void {
  document.documentElement.dataset['theme'] = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // The page works without storage.
  }
  dispatchEvent(new Event(CHANGED));
}

function isDarkNow(): boolean {
  const theme = document.documentElement.dataset['theme'];
  return theme === 'dark' || (theme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
}

/** Returns whether the page is dark, also after a change. */
export function useDark(): boolean {
  const [isDark, setDark] = useState(isDarkNow);
  useEffect(() => {
    const update = (): void => {
      setDark(isDarkNow());
    };
    const query = matchMedia('(prefers-color-scheme: dark)');
    query.addEventListener('change', update);
    addEventListener(CHANGED, update);
    return () => {
      query.removeEventListener('change', update);
      removeEventListener(CHANGED, update);
    };
  }, []);
  return isDark;
}
