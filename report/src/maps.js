// For each collection a heat map of its tensors over the steps; with several runs one below the other, on the same axes.
import { METRICS, mergedColumn, metric, seriesOf } from './data.js';
import { el, number, plural, seriesColor } from './dom.js';
import { Heat, Scale, legend } from './heat.js';
import { on, set, state } from './state.js';
import { pictures } from './theme.js';
import { openTensor } from './findings.js';

const natural = new Intl.Collator('en', { numeric: true });
const ordered = ['weights', 'gradients', 'biases', 'all', 'all tensors', 'default', 'losses'];

// Collections with something in them; that of all tensors last, where it says more than the others.
export function collectionsOf(run) {
    const rank = (name) => (ordered.includes(name) ? ordered.indexOf(name) : 2.5);
    const some = run.collections.filter((one) => one.tensors.length).map((one) => ({ name: one.name, tensors: one.tensors }));
    if (!some.some((one) => one.tensors.length === run.tensors.length)) some.push({ name: 'all tensors', tensors: run.tensors.map((_, i) => i) });
    return some.sort((a, b) => rank(a.name) - rank(b.name) || (a.name < b.name ? -1 : 1));
}

// Marks of a tensor on an axis: how many findings at each bucket.
export function marksOf(run, tensor, axis, worker = -1) {
    const marks = new Map();
    for (const mark of run.marksOf.get(tensor) || []) {
        if (worker >= 0 && mark.worker !== worker && mark.worker < run.workers.length) continue;
        for (const place of mark.places) if (place.axis === axis) marks.set(place.bucket, (marks.get(place.bucket) || 0) + place.count);
    }
    return new Map([...marks].sort((a, b) => a[0] - b[0]));
}

const rulesAt = (run, tensor, axis, bucket) => (run.marksOf.get(tensor) || []).filter((mark) => mark.places.some((p) => p.axis === axis && p.bucket === bucket)).map((mark) => `${run.rules[mark.rule].name}${run.workers[mark.worker] && run.workers.length > 1 ? ' of ' + run.workers[mark.worker] : ''}`);

// The worker that has the value shown.
function workerOf(run, row, axis, bucket, value) {
    if (run.workers.length < 2 || state.worker >= 0) return '';
    const which = metric(state.metric).hi;
    const one = seriesOf(run, row.tensor, axis, -1).find((series) => series.column(which).has(bucket) && Object.is(series.column(which).values[bucket], value));
    return one ? run.workers[one.worker] : '';
}

export function mapsPart(view) {
    const part = el('section', { id: 'maps-part', 'aria-labelledby': 'maps-title' });
    const collection = el('select', { 'aria-label': 'Collection', onchange: () => set({ collection: collection.value }) });
    const number_ = el('select', { 'aria-label': 'Number', onchange: () => set({ metric: number_.value }) }, METRICS.filter((one) => one.positive).map((one) => el('option', { value: one.id, text: one.label })));
    const mode = el('select', { 'aria-label': 'Mode', onchange: () => set({ mode: mode.value }) });
    const worker = el('select', { 'aria-label': 'Worker', onchange: () => set({ worker: Number(worker.value) }) });
    const where = el('div', { class: 'maps' });
    const key = el('div', {});
    const note = el('p', { class: 'muted' });
    let heats = [];

    const runsShown = () => (view.runs.length <= 6 ? view.runs : [view.runs[state.run]]);
    const axisPlace = (run) => {
        const wanted = run.axes.findIndex((axis) => axis.mode === state.mode);
        return wanted >= 0 ? wanted : run.axes.reduce((best, axis, i) => (axis.steps > run.axes[best].steps ? i : best), 0);
    };
    const groupOf = (run) => {
        const groups = (of) => collectionsOf(of).filter((one) => !['all', 'default', 'all tensors', 'losses', 'metrics', 'scalars', 'sm_metrics'].includes(one.name));
        // That in which the most tensors of all runs have findings, of the groups that are shown best as a map: the same one for
        // all runs, so that they can be compared.
        const marked = (name) =>
            view.runs.reduce((sum, each) => {
                const group = collectionsOf(each).find((one) => one.name === name);
                return sum + (group ? group.tensors.filter((tensor) => each.marksOf.has(tensor)).length : 0);
            }, 0);
        const names = [...new Set(view.runs.flatMap((each) => groups(each).map((one) => one.name)))];
        const best = names.reduce((most, name) => (marked(name) > marked(most) ? name : most), names[0]);
        const all = collectionsOf(run);
        return all.find((one) => one.name === state.collection) || all.find((one) => one.name === best) || groups(run)[0] || all[0];
    };
    const rowsOf = (run) => {
        const axis = axisPlace(run);
        const { hi } = metric(state.metric);
        const group = groupOf(run);
        if (!group) return [];
        const byName = group.tensors.slice().sort((a, b) => natural.compare(run.tensors[a].name, run.tensors[b].name));
        return byName.flatMap((tensor) => {
            const series = seriesOf(run, tensor, axis, state.worker);
            if (!series.length) return [];
            const name = run.tensors[tensor].name;
            return [{ label: name, title: name, tensor, column: mergedColumn(series, hi, true), marks: marksOf(run, tensor, axis, state.worker), chosen: () => state.tensor === name }];
        });
    };
    const options = () => {
        const run = view.runs[state.run];
        const all = collectionsOf(run);
        const group = groupOf(run);
        collection.replaceChildren(...all.map((one) => el('option', { value: one.name, text: `${one.name} (${one.tensors.length})`, selected: group === one || group.name === one.name })));
        mode.replaceChildren(...run.axes.map((axis, i) => el('option', { value: axis.mode, text: axis.mode.toLowerCase(), selected: i === axisPlace(run) })));
        mode.parentElement.hidden = run.axes.length < 2;
        worker.replaceChildren(el('option', { value: '-1', text: 'all, the largest' }), ...run.workers.map((name, i) => el('option', { value: String(i), text: name, selected: i === state.worker })));
        worker.parentElement.hidden = run.workers.length < 2;
        number_.value = state.metric;
        if (!number_.value) number_.value = 'abs_mean';
    };
    const caption = (run) => {
        const dot = el('i', { class: 'dot' });
        dot.style.background = seriesColor(run.index);
        return el('figcaption', {}, el('span', { class: 'name' }, dot, run.name), el('span', { class: 'muted' }));
    };
    const refresh = () => {
        options();
        const runs = runsShown();
        if (heats.length !== runs.length || heats.some((heat, i) => heat.run !== runs[i])) {
            heats = runs.map((run) => {
                const heat = new Heat({
                    label: `Tensors of ${run.name}`,
                    axisOf: () => run.axes[axisPlace(run)],
                    scaleOf: () => heats.scale,
                    rowsOf: () => heat.next,
                    pick: (row, step) => {
                        if (state.run !== run.index) set({ run: run.index });
                        openTensor(row.label, step);
                    },
                    lines: (row, bucket) => {
                        const what = metric(state.metric);
                        const value = row.column.values[bucket];
                        const by = workerOf(run, row, axisPlace(run), bucket, value);
                        const rules = rulesAt(run, row.tensor, axisPlace(run), bucket);
                        return [row.column.has(bucket) ? `${what.label}: ${number(value)}${run.axes[axisPlace(run)].count[bucket] > 1 ? ' (largest)' : ''}` : 'not saved', by && `worker: ${by}`, rules.length > 0 && `found by ${[...new Set(rules)].slice(0, 4).join(', ')}`];
                    },
                });
                heat.run = run;
                return heat;
            });
            where.replaceChildren(
                ...heats.map((heat) => {
                    heat.caption = view.runs.length > 1 ? caption(heat.run) : null;
                    return el('figure', {}, heat.caption, heat.box);
                }),
            );
        }
        heats.scale = new Scale(metric(state.metric).linear);
        for (const heat of heats) {
            heat.next = rowsOf(heat.run);
            heat.next.forEach((row) => heats.scale.take(row.column));
            const group = groupOf(heat.run);
            if (heat.caption && group) heat.caption.lastChild.textContent = group.name;
        }
        // The same axes: the longest label of all runs makes room for the labels of each.
        const widest = Math.max(...heats.map((heat) => heat.labelWidth(heat.next)));
        heats.forEach((heat) => (heat.widest = widest));
        heats.forEach((heat) => heat.refresh());
        key.replaceChildren(legend(heats.scale, { zero: heats.some((heat) => heat.kinds.zero), bad: heats.some((heat) => heat.kinds.bad), marks: heats.some((heat) => heat.next.some((row) => row.marks.size)) && 'a rule found something' }));
        const run = view.runs[state.run];
        const rows = heats.reduce((sum, heat) => sum + heat.next.length, 0);
        const axis = run.axes[axisPlace(run)];
        note.textContent = !rows ? 'Nothing of this collection was saved in this mode.' : axis && axis.together ? `${plural(axis.steps, 'step')} are shown in ${plural(axis.first.length, 'column')}: of steps that share one, the largest.` : '';
    };
    on(['run', 'collection', 'metric', 'mode', 'worker'], refresh);
    on(['range', 'step', 'tensor'], () => heats.forEach((heat) => heat.redraw()));
    pictures.add({ redraw: refresh, resize: () => heats.forEach((heat) => heat.redraw()) });
    const labelled = (text, control) => el('label', {}, text + ' ', control);
    part.append(el('h2', { id: 'maps-title', text: 'Tensors over steps' }), el('div', { class: 'controls' }, labelled('Collection', collection), labelled('Number', number_), labelled('Mode', mode), labelled('Worker', worker)), key, where, note);
    return part;
}
