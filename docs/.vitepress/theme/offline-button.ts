import { useData } from 'vitepress';
import { defineComponent, h, onMounted, ref } from 'vue';

type State = 'offered' | 'saving' | 'saved' | 'failed' | 'unavailable';

const TEXTS: Readonly<Record<State, string>> = {
  offered: 'Save this site for offline reading',
  saving: 'Saving…',
  saved: 'Saved for offline reading',
  failed: 'Saving failed. Try again',
  unavailable: '',
};

/** A button that keeps all pages in the browser. Readers decide, because the pages have several megabytes. */
export const OfflineButton = defineComponent(() => {
  const { site } = useData();
  const state = ref<State>('unavailable');
  onMounted(async () => {
    // Browsers have service workers only on https and on the own machine.
    if (!('serviceWorker' in navigator) || import.meta.env.DEV) return;
    const existing = await navigator.serviceWorker.getRegistration(site.value.base);
    state.value = existing?.active ? 'saved' : 'offered';
  });
  const save = async (): Promise<void> => {
    state.value = 'saving';
    try {
      const registration = await navigator.serviceWorker.register(`${site.value.base}service-worker.js`);
      const worker = registration.installing ?? registration.waiting;
      if (worker !== null) await untilActivated(worker);
      state.value = 'saved';
    } catch {
      state.value = 'failed';
    }
  };
  return () =>
    state.value === 'unavailable'
      ? null
      : h(
          'button',
          { class: 'offline-button', disabled: state.value === 'saving' || state.value === 'saved', onClick: save },
          h('span', { role: 'status' }, TEXTS[state.value]),
        );
});

function untilActivated(worker: ServiceWorker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.addEventListener('statechange', () => {
      if (worker.state === 'activated') resolve();
      if (worker.state === 'redundant') reject(new Error('The files could not be stored'));
    });
  });
}
