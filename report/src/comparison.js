// Two runs: since where they differ.
import { count, el, number, plural, seriesColor } from './dom.js';
import { Lines } from './lines.js';
import { openTensor } from './findings.js';
import { on, set } from './state.js';
import { pictures } from './theme.js';

export function comparisonPart(view) {
    const all = view.facts.comparison;
    const part = el('section', { id: 'comparison-part', 'aria-labelledby': 'comparison-title' }, el('h2', { id: 'comparison-title', text: all.title }), el('p', { text: all.sentence.charAt(0).toUpperCase() + all.sentence.slice(1) }));
    if (all.steps.length) {
        const chart = new Lines({ label: 'Tensors that differ', full: view.full, height: 160 });
        const redraw = () => chart.draw([{ label: 'tensors that differ', color: seriesColor(1), x: all.steps.map((step) => step[0]), y: all.steps.map((step) => step[2]), text: (i) => `${count(all.steps[i][2])} of ${plural(all.steps[i][1], 'tensor')} differ, by ${number(all.steps[i][3])} at most` }]);
        pictures.add({ redraw, resize: () => chart.resize() });
        on(['range'], () => chart.setRange());
        on(['step'], () => chart.redraw());
        part.append(el('figure', {}, el('figcaption', {}, el('span', { class: 'name', text: 'Tensors that differ, by step' })), chart.box));
    }
    if (all.differences.length) {
        // The first difference of each tensor says more than all of the first step.
        const seen = new Set();
        const first = all.differences.filter((each) => !seen.has(each.kind + each.tensor + each.worker) && seen.add(each.kind + each.tensor + each.worker));
        const rows = first.slice(0, 12).map((each) => {
            const go = () => (each.tensor ? openTensor(each.tensor, each.step ?? null) : set({ step: each.step ?? null }));
            return el('tr', { onclick: go }, el('td', { class: 'num', text: each.step === undefined ? '' : count(each.step), 'data-label': 'Step' }), el('td', { class: 'name', 'data-label': 'Tensor' }, each.tensor ? el('button', { type: 'button', class: 'link', text: each.tensor }) : 'the run', each.worker && each.worker !== 'worker_0' ? el('small', { text: ' ' + each.worker }) : null), el('td', { text: each.kind, 'data-label': 'In' }), el('td', { class: 'message', text: each.what, 'data-label': 'What' }));
        });
        part.append(el('div', { class: 'table-box' }, el('table', { class: 'findings' }, el('thead', {}, el('tr', {}, ['Step', 'Tensor', 'In', 'What'].map((name, i) => el('th', { scope: 'col', class: i ? '' : 'num', text: name })))), el('tbody', {}, rows))));
        if (all.all > rows.length) part.append(el('p', { class: 'muted', text: `Of each tensor the first of ${plural(all.all, 'difference')}; smdebug diff lists all.` }));
    }
    return part;
}
