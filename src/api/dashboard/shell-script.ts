/**
 * The script around the dashboard. The script follows the folder's changes and shows the status. The script replaces
 * the page only when the new page is loaded, so that nothing flickers. The script must not change at runtime, because
 * the content security policy allows it by its hash.
 */
export const SHELL_SCRIPT = `
(() => {
  'use strict';
  const STALE_MILLIS = 5 * 60 * 1000;
  const byId = (id) => document.getElementById(id);
  const base = document.body.dataset.base;
  let state = JSON.parse(byId('folder-state').textContent);
  // How far the service's clock is ahead of the clock of this machine.
  const ahead = Date.parse(state.now) - Date.now();
  let isLost = false;

  const count = (number, one, many) => number + ' ' + (number === 1 ? one : many);
  const timeOf = (iso) => {
    const time = new Date(iso);
    const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' };
    const isToday = time.toDateString() === new Date().toDateString();
    return isToday ? time.toLocaleTimeString([], clock) : time.toLocaleDateString() + ' ' + time.toLocaleTimeString([], clock);
  };
  const ageOf = (millis) => {
    const minutes = Math.floor(millis / 60000);
    if (minutes < 120) return count(minutes, 'minute', 'minutes');
    return minutes < 48 * 60 ? Math.floor(minutes / 60) + ' hours' : Math.floor(minutes / 1440) + ' days';
  };
  const wordsOf = () => {
    if (isLost) return ['lost', 'Connection lost, reconnecting' + (state.updated_at === null ? '' : '; last update ' + timeOf(state.updated_at))];
    if (state.updated_at === null) return ['missing', 'No dashboard yet'];
    const age = Date.now() + ahead - Date.parse(state.updated_at);
    if (age > STALE_MILLIS) {
      return ['stale', 'Stale: not updated since ' + timeOf(state.updated_at) + ', ' + ageOf(age) + ' ago'];
    }
    return ['live', 'Live, updated ' + timeOf(state.updated_at)];
  };
  const alertWords = () => {
    if (state.alarms === null) return ['unknown', state.page === null ? '' : 'Alarms unknown: active_alerts.json is missing or cannot be read'];
    const watches = state.watches === 0 ? '' : ', ' + count(state.watches, 'watch', 'watches');
    if (state.alarms === 0) return ['none', 'No open alarms' + watches];
    return ['open', count(state.alarms, 'alarm', 'alarms') + ' open' + watches];
  };
  // Update only on changes; otherwise screen readers would repeat the text.
  const say = (id, [kind, text]) => {
    const element = byId(id);
    if (element.textContent !== text) element.textContent = text;
    element.dataset.kind = kind;
  };
  const render = () => {
    say('connection', wordsOf());
    say('alerts', alertWords());
    byId('missing').hidden = state.page !== null;
    byId('alone').hidden = state.page === null;
    byId('stale').hidden = byId('connection').dataset.kind !== 'stale';
  };

  let shown;
  let shownPage;
  let loading;
  let view;
  const showPage = () => {
    if (state.page === null || state.page === shownPage || loading !== undefined) return;
    // A hidden page is loaded when it becomes visible.
    if (document.hidden && shown !== undefined) return;
    const page = state.page;
    const frame = document.createElement('iframe');
    frame.title = 'Dashboard';
    frame.className = 'next';
    frame.setAttribute('sandbox', 'allow-scripts');
    let timer;
    const swap = () => {
      if (loading?.frame !== frame) return;
      clearTimeout(timer);
      const hadFocus = document.activeElement === shown;
      frame.className = '';
      shown?.remove();
      shown = frame;
      shownPage = page;
      loading = undefined;
      if (hadFocus) frame.focus();
      showPage();
    };
    frame.addEventListener('load', () => {
      if (loading?.frame !== frame) return;
      if (view === undefined) swap();
      else {
        frame.contentWindow.postMessage({ evenhand: 'restore', view }, '*');
        timer = setTimeout(swap, 1000);
      }
    });
    loading = { frame, swap };
    frame.src = base + 'page?version=' + encodeURIComponent(page);
    byId('frames').append(frame);
  };
  addEventListener('message', ({ source, data }) => {
    if (source === null) return;
    if (data?.evenhand === 'view' && source === shown?.contentWindow) view = data.view;
    if (data?.evenhand === 'restored' && source === loading?.frame.contentWindow) loading.swap();
  });
  document.addEventListener('visibilitychange', showPage);

  const update = () => {
    render();
    showPage();
  };
  let events;
  const follow = () => {
    events = new EventSource(base + 'events');
    events.addEventListener('changed', ({ data }) => {
      isLost = false;
      state = JSON.parse(data);
      update();
    });
    events.addEventListener('open', () => {
      isLost = false;
      render();
    });
    events.addEventListener('error', () => {
      isLost = true;
      render();
      // Rejected, for example because of too many followers. The browser does not retry by itself in this case.
      if (events.readyState === EventSource.CLOSED) setTimeout(follow, 10000);
    });
  };
  update();
  follow();
  // A page becomes stale as time passes.
  setInterval(render, 10000);
})();
`;
