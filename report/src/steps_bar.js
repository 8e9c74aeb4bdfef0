// The steps that all pictures show: numbers and buttons, for whoever does not drag.
import { el } from './dom.js';
import { on, set, state } from './state.js';

export function stepsBar(view) {
    const [first, last] = view.full;
    const from = el('input', { type: 'number', 'aria-label': 'First step shown', min: String(first), max: String(last) });
    const to = el('input', { type: 'number', 'aria-label': 'Last step shown', min: String(first), max: String(last) });
    for (const input of [from, to]) input.style.minWidth = `${String(last).length + 4}ch`; // large steps, and the arrows
    const take = () => {
        const range = [Number(from.value), Number(to.value)];
        if (range.every(Number.isFinite) && range[0] < range[1]) set({ range: range[0] <= first && range[1] >= last ? null : range });
        else show();
    };
    from.addEventListener('change', take);
    to.addEventListener('change', take);
    const span = () => state.range || view.full;
    const zoom = (by) => {
        const [a, b] = span();
        const half = Math.max(((b - a) / 2) * by, 0.5);
        const middle = state.step !== null && state.step > a && state.step < b && by < 1 ? state.step : (a + b) / 2;
        const range = [Math.max(middle - half, first), Math.min(middle + half, last)];
        set({ range: range[0] <= first && range[1] >= last ? null : range });
    };
    const pan = (by) => {
        const [a, b] = span();
        const shift = Math.min(Math.max((b - a) * by, first - a), last - b);
        set({ range: [a + shift, b + shift] });
    };
    const button = (text, label, act) => el('button', { type: 'button', 'aria-label': label, title: label, onclick: act }, text);
    const reset = button('All steps', 'Show all steps', () => set({ range: null }));
    const show = () => {
        const [a, b] = span();
        from.value = String(Math.round(a));
        to.value = String(Math.round(b));
        reset.disabled = !state.range;
    };
    show();
    on(['range'], show);
    return el(
        'div',
        { class: 'steps-bar', role: 'group', 'aria-label': 'Steps shown' },
        el('span', { class: 'muted', text: 'Steps' }),
        from,
        el('span', { class: 'muted', text: 'to' }),
        to,
        button('\u2212', 'Zoom out', () => zoom(2)),
        button('+', 'Zoom in', () => zoom(0.5)),
        button('\u2190', 'Earlier steps', () => pan(-0.25)),
        button('\u2192', 'Later steps', () => pan(0.25)),
        reset,
        el('span', { class: 'muted hint', text: 'Drag in a picture to zoom, with Shift to pan; double-click for all.' }),
    );
}
