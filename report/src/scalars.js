// Losses and other scalars over steps: of all runs, by mode.
import { bandCurve } from './bands.js';
import { mergedColumn, scalarTensors, seriesOf } from './data.js';
import { el, middle, number, plural, seriesColor } from './dom.js';
import { Lines, smoothed } from './lines.js';
import { on, set, state } from './state.js';
import { pictures } from './theme.js';

const dashes = { TRAIN: undefined, GLOBAL: undefined, EVAL: [6, 4], PREDICT: [2, 3] };

// One curve for each run and mode; workers together, by their smallest and largest.
function curvesOf(view, name, smooth) {
    const curves = [];
    view.runs.forEach((run, r) => {
        const place = run.tensorPlace.get(name);
        if (place === undefined) return;
        run.axes.forEach((axis, a) => {
            const series = seriesOf(run, place, a, -1);
            if (!series.length) return;
            const low = mergedColumn(series, 2, false);
            const high = mergedColumn(series, 3, true);
            const curve = { x: [], low: [], high: [], y: [] };
            for (let i = 0; i < axis.first.length; ++i) {
                if (!high.has(i)) continue;
                curve.x.push(axis.first[i]);
                curve.low.push(low.values[i]);
                curve.high.push(high.values[i]);
                curve.y.push(middle(low.values[i], high.values[i]));
            }
            if (!curve.x.length) return;
            const apart = curve.low.some((v, i) => v !== curve.high[i] && Number.isFinite(v));
            const parts = [view.runs.length > 1 ? run.name : '', run.axes.length > 1 || axis.mode !== 'GLOBAL' ? axis.mode : ''].filter(Boolean);
            curve.run = run;
            curve.axis = a;
            curve.label = parts.join(' ') || name;
            curve.color = view.runs.length > 1 ? seriesColor(r) : seriesColor(a);
            curve.dash = dashes[axis.mode];
            curve.hidden = state.off.includes(curve.label);
            const raw = curve.y;
            if (smooth > 0) {
                curve.faint = raw;
                curve.y = smoothed(raw, smooth);
            }
            if (apart) curve.bands = [[curve.low, curve.high, '2e']];
            curve.text = (i) => {
                const range = apart && curve.low[i] !== curve.high[i] ? ` (${number(curve.low[i])} to ${number(curve.high[i])})` : '';
                return `${curve.label}: ${number(raw[i])}${range}`;
            };
            curves.push(curve);
        });
    });
    return curves;
}

// What the value of the chosen run was in healthy ones, behind its curves.
function bandsOf(view, name, curves) {
    const run = view.runs[state.run];
    return (run.bandsOf.get(run.tensorPlace.get(name)) || []).flatMap((band) => {
        const curve = curves.find((one) => one.run === run && one.axis === band.axis);
        if (!curve || band.number !== 'value') return [];
        const made = bandCurve(band, run.axes[band.axis], curve.color, curves.length > 1 ? curve.label : '');
        return made ? [{ ...made, hidden: state.off.includes(made.label) }] : [];
    });
}

// What cannot be drawn of these curves, and of which run, where there are several.
function lostOf(view, curves) {
    const steps = (of) => of.reduce((sum, curve) => sum + curve.high.filter((v) => !Number.isFinite(v)).length, 0);
    if (view.runs.length < 2) return steps(curves) ? `NaN or infinite at ${plural(steps(curves), 'step')}` : '';
    const lost = view.runs.map((run) => [run.name, steps(curves.filter((curve) => curve.run === run))]).filter((each) => each[1]);
    const named = lost.slice(0, 3).map(([name, n]) => `${name}, at ${plural(n, 'step')}`);
    if (lost.length > named.length) named.push(plural(lost.length - named.length, 'more run'));
    return lost.length ? `NaN or infinite in ${named.join('; in ')}` : '';
}

// Steps at which a rule found something of this scalar, of the run that is chosen.
export function markedSteps(run, place) {
    const steps = new Set();
    for (const mark of run.marksOf.get(place) || []) for (const { axis, bucket } of mark.places) steps.add(run.axes[axis].first[bucket]);
    return [...steps].sort((a, b) => a - b);
}

export function scalarsPart(view) {
    const names = scalarTensors(view.runs);
    const part = el('section', { id: 'scalars-part', 'aria-labelledby': 'scalars-title' });
    if (!names.length) return part;
    let most = 6;
    // A logarithmic axis has no place for numbers below zero; zeros are left out of it, and counted.
    const fits = (curves) => curves.every((curve) => curve.low.every((v) => !(v < 0) || v === -Infinity)) && curves.some((curve) => curve.high.some((v) => v > 0 && v < Infinity));
    const zerosOf = (curves) => curves.reduce((sum, curve) => sum + curve.low.filter((v) => v === 0).length, 0);
    const log = el('input', { type: 'checkbox', id: 'log' });
    const smooth = el('input', { type: 'range', id: 'smooth', min: '0', max: '0.98', step: '0.02' });
    const shown = el('output', { for: 'smooth' });
    const whose = el('span', {});
    const grid = el('div', { class: 'grid' });
    const charts = [];
    const redraw = () => {
        let anyLog = false;
        let anyMark = false;
        for (const { chart, name, note } of charts) {
            const curves = curvesOf(view, name, state.smooth);
            // NaN breaks a line, and is said.
            const lost = lostOf(view, curves);
            const can = fits(curves);
            const zeros = zerosOf(curves);
            // Unless it was chosen: where the values lie far apart.
            const all = curves.flatMap((curve) => [...curve.low, ...curve.high]).filter((v) => v > 0 && v < Infinity);
            const apart = can && !zeros && all.reduce((m, v) => Math.max(m, v), 0) > 100 * all.reduce((m, v) => Math.min(m, v), Infinity);
            const wanted = state.log === null ? apart : state.log === 1;
            anyLog = anyLog || (wanted && can);
            chart.log = wanted && can;
            note.textContent = [wanted && !can ? 'not all positive: linear' : wanted && zeros ? `0 at ${plural(zeros, 'step')}: not shown` : '', lost].filter(Boolean).join('; ');
            note.className = lost ? 'chart-note bad' : 'chart-note';
            const run = view.runs[state.run];
            const marks = run.tensorPlace.has(name) ? markedSteps(run, run.tensorPlace.get(name)) : [];
            anyMark = anyMark || marks.length > 0;
            chart.draw([...curves, ...bandsOf(view, name, curves)], marks);
        }
        whose.replaceChildren(...(view.runs.length > 1 && anyMark ? [el('span', { class: 'bad', text: '\u25b2' }), ` findings of ${view.runs[state.run].name}`] : []));
        log.checked = state.log === null ? anyLog : state.log === 1;
        smooth.value = String(state.smooth);
        shown.textContent = state.smooth ? state.smooth.toFixed(2) : 'off';
    };
    const build = () => {
        charts.forEach(({ chart }) => chart.destroy());
        charts.length = 0;
        grid.replaceChildren(
            ...names.slice(0, most).map((name) => {
                const chart = new Lines({ label: name, full: view.full });
                chart.onToggle = (curve) => set({ off: curve.hidden ? [...state.off, curve.label] : state.off.filter((each) => each !== curve.label) });
                const note = el('span', { class: 'chart-note' });
                charts.push({ chart, name, note });
                return el('figure', {}, el('figcaption', {}, el('span', { class: 'name', text: name, title: name }), note), chart.box);
            }),
        );
        more.hidden = names.length <= most;
    };
    const more = el('button', { type: 'button', class: 'more', text: `Show all ${names.length} scalars`, onclick: () => ((most = names.length), build(), redraw()) });
    log.addEventListener('change', () => set({ log: log.checked ? 1 : 0 }));
    smooth.addEventListener('input', () => set({ smooth: Number(smooth.value) }));
    build();
    on(['log', 'smooth', 'run', 'off'], (changed) => (changed.length === 1 && changed[0] === 'off' ? syncHidden(charts) : redraw()));
    on(['range'], () => charts.forEach(({ chart }) => chart.setRange()));
    on(['step'], () => charts.forEach(({ chart }) => chart.redraw()));
    pictures.add({ redraw, resize: () => charts.forEach(({ chart }) => chart.resize()) });
    part.append(
        el('h2', { id: 'scalars-title', text: 'Losses and scalars' }),
        el('div', { class: 'controls' }, el('label', {}, log, ' Log scale'), el('label', {}, 'Smoothing ', smooth, ' ', shown), whose),
        grid,
        more,
    );
    return part;
}

// A curve that is switched off in one picture is so in all.
function syncHidden(charts) {
    for (const { chart } of charts) for (const curve of chart.curves || []) if (!!curve.hidden !== state.off.includes(curve.label)) {
        const told = chart.onToggle;
        chart.onToggle = null;
        chart.toggle(curve);
        chart.onToggle = told;
    }
}
