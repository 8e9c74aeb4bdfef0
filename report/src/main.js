// The page: its parts, in their order.
import { readFacts, readRun, usualMetric } from './data.js';
import { el, tooltip } from './dom.js';
import { readState, remember, state, takeAddress } from './state.js';
import { factsPart, runPicker, worstRun } from './facts.js';
import { findingsPart } from './findings.js';
import { scalarsPart } from './scalars.js';
import { mapsPart } from './maps.js';
import { tensorPart } from './tensor.js';
import { comparisonPart } from './comparison.js';
import { batchPart } from './batch.js';
import { stepsBar } from './steps_bar.js';
import { followPage } from './follow.js';
import { pictures, setTheme, startTheme } from './theme.js';

const facts = readFacts();
const page = document.getElementById('page');
readState();
startTheme();
document.getElementById('title').textContent = facts.title || 'smdebug report';
document.getElementById('end').textContent = `Written by ${facts.by}. Line charts by uPlot (MIT licence, in this page's source).`;

const view = { facts, runs: [] };
const shownBefore = remember('run');
if (shownBefore) remember('run', '');
if (!facts.runs[state.run]) state.run = facts.runs[shownBefore] ? Number(shownBefore) : worstRun(facts).place;

// What needs no numbers stands there before they are decoded.
if (facts.isBatch) {
    page.append(batchPart(facts));
} else if (!facts.runs.length) {
    page.append(el('p', { class: 'notice', text: 'There are no runs in this report.' }));
} else {
    if (facts.runs.length > 1) page.append(runPicker(facts));
    page.append(factsPart(facts), findingsPart(facts));
}

function drawPictures() {
    if (facts.isBatch || !facts.runs.length) return;
    view.runs = facts.runs.map(readRun);
    state.metric ??= usualMetric(view.runs);
    const steps = view.runs.flatMap((run) => run.steps);
    view.full = [Math.min(...steps), Math.max(...steps)];
    if (state.range && (state.range[1] <= view.full[0] || state.range[0] >= view.full[1])) state.range = null;
    if (facts.comparison) page.append(comparisonPart(view));
    if (view.runs.some((run) => run.series.length)) {
        page.append(stepsBar(view), scalarsPart(view), mapsPart(view), tensorPart(view));
    } else {
        page.append(el('p', { class: 'notice', text: 'No tensor of these steps could be shown.' }));
    }
    pictures.start();
}

function finish() {
    drawPictures();
    document.documentElement.dataset.ready = '1';
    followPage(facts);
    performance.mark('drawn');
}
if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', finish);
else finish();

addEventListener('scroll', () => tooltip.hide(), { passive: true });
addEventListener('beforeprint', () => setTheme('light', false));
addEventListener('afterprint', () => setTheme(remember('theme') || 'auto', false));
addEventListener('hashchange', takeAddress);
