/**
 * What runs in a dashboard: draws each chart of the page's data, in dark colours where the reader prefers these, in
 * light ones on paper, and again when the page's width changes. It is let through by its hash, so it stands still.
 */
export const DASHBOARD_SCRIPT = `
(() => {
  'use strict';
  const charts = JSON.parse(document.getElementById('chart-data').textContent);
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const isObject = (value) => typeof value === 'object' && value !== null;
  // Dark colours come as what differs from the light option, place by place.
  const changed = (base, changes) => {
    if (!isObject(base) || !isObject(changes)) return changes;
    const copy = Array.isArray(base) ? base.slice() : Object.assign({}, base);
    for (const key of Object.keys(changes)) copy[key] = changed(base[key], changes[key]);
    return copy;
  };
  const said = (unit) => (value) => {
    const number = Array.isArray(value) ? value[1] : value;
    if (typeof number !== 'number') return 'undefined';
    return unit === 'share' ? number.toFixed(1) + '%' : number.toFixed(3);
  };
  const drawn = Array.from(document.querySelectorAll('[data-chart]'), (box) => {
    const { option, darkChanges, unit } = charts[Number(box.dataset.chart)];
    return { box, option, darkChanges, unit, chart: echarts.init(box, null, { renderer: 'svg' }) };
  });
  const draw = (isDark) => {
    for (const { chart, option, darkChanges, unit } of drawn) {
      const shown = isDark ? changed(option, darkChanges) : option;
      const tooltip = Object.assign({}, shown.tooltip, unit === null ? {} : { valueFormatter: said(unit) });
      chart.setOption(Object.assign({}, shown, { tooltip }), true);
    }
  };
  let isPrinting = false;
  draw(dark.matches);
  dark.addEventListener('change', () => draw(dark.matches && !isPrinting));
  const print = (isStarting) => {
    isPrinting = isStarting;
    // Drawn at once after it is resized: paper does not wait for the next frame.
    for (const { chart } of drawn) chart.resize({ width: isStarting ? 680 : 'auto' });
    draw(!isStarting && dark.matches);
  };
  addEventListener('beforeprint', () => print(true));
  addEventListener('afterprint', () => print(false));
  const resized = new ResizeObserver(() => {
    if (isPrinting) return;
    for (const { chart, box } of drawn) {
      if (box.clientWidth > 0 && box.clientWidth !== chart.getWidth()) chart.resize();
    }
  });
  for (const { box } of drawn) resized.observe(box);
})();
`;
