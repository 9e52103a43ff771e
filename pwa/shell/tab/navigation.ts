/**
 * A tab's navigation as one value: the page that its frame has, whatever is on its way there, and whatever could not be
 * opened. All is pure: a function gives the next state, and the tab does what follows of it. Times are milliseconds of the
 * caller's clock.
 *
 *     setOut, leaveByItself   any state             ─▶ underway
 *     sendFrame               underway, returning   ─▶ the same, with a journey; from loading what was sent: underway
 *     arrive                  any state             ─▶ loading or settled; underway where the frame has not set out
 *     reload                  settled, loading      ─▶ loading
 *     settle                  any state             ─▶ settled: the committed page is what counts
 *     fail                    any state             ─▶ settled, with the failure beside the page, or failed without one
 *     failInPlace             any state             ─▶ failed
 *     goBack                  settled               ─▶ returning: the frame has lost the page, and gets it anew
 *     endWithoutDocument      loading, underway, returning  ─▶ settled, or the same
 *     abandon                 any state             ─▶ the same, and the tunnel goes on with nothing
 *     timeOut                 any state with a time ─▶ the same without it, and an order
 *
 * Pages say what they like when they like, so their steps may come in any state. A step that only the shell begins is a
 * mistake of the shell's in a state that it does not lead from, and throws.
 */
import { ErrorCode } from "../../../shared/errors.ts";
import type { DocumentPhase, PageToShell } from "../../messages/page-messages.ts";
import type { NavigationRequest } from "../../messages/tunnel-messages.ts";
import type { Destination, PageError, TabState, TryingAgain } from "../app/state.ts";
import { isPartOf } from "./navigation-request.ts";

/** The document that the frame has, or had last; all empty for the start page. */
export type CommittedPage = Pick<TabState, "url" | "title" | "icon" | "picture">;

export const NO_PAGE: CommittedPage = { url: "", title: "", icon: null };

/** The frame's content, as far as the shell is told. */
export type Content =
  /** The start document, or a document that tells of itself and can be told where to go. */
  | { readonly kind: "document" }
  /** A document in which the page script cannot run. */
  | { readonly kind: "silent"; readonly url: string }
  /** The notice of a failure, in place of a document. */
  | { readonly kind: "notice" }
  /** The document of another tab, which had the frame before. */
  | { readonly kind: "former" }
  /**
   * A page of the app's (boot page, notice of a try before) has replaced the document, and another is to come.
   *
   * @property isSentOn the frame has been sent on since. Until then that page goes on by itself.
   * @property returnsAt when the committed page is put back in its place, if nothing has come.
   * @property goal URL that a boot page in the frame goes on to by itself; null where none is known to be on its way.
   */
  | {
      readonly kind: "left";
      readonly isSentOn: boolean;
      readonly returnsAt: number | null;
      readonly goal: string | null;
    };

/** The navigation that the shell has asked the tunnel for; of the page, or of a frame that leads it, with a body too. */
export interface SentNavigation {
  readonly id: number;
  readonly request: NavigationRequest;
  readonly by: Destination["kind"];
  /** The error that the try before ended in. The frame may still be on its way to the notice of that. */
  readonly retries: PageError | null;
  /** How often this failed before, in a row. */
  readonly attempts: number;
  /** The site may have acted on it, though it failed. */
  readonly mayHaveRun: boolean;
  /** The tunnel has the response, which waits for its slot. */
  readonly isAnswered: boolean;
}

/** The way of the frame to a slot, until a document of it is there. */
export interface Journey {
  readonly origin: string;
  /** Real URL that the frame was sent to. */
  readonly url: string;
  /** The slot's service worker was known to answer when the frame set out: then no boot page can be lost. */
  readonly isBooted: boolean;
  /** Origin that the frame was sent to before the page set out by itself; null for none. Its document may come all the same. */
  readonly instead: string | null;
  /** Boot pages that were lost so far. */
  readonly lost: number;
  /** The page before has spoken since. */
  readonly heardFormerPage: boolean;
  /** A document has come into the frame, or should have: until then it must be known for the one that is awaited. */
  readonly due: Due | null;
  /** URL, without a fragment, of the awaited document, if its body broke off before it could say that it is there. */
  readonly brokenUrl: string | null;
}

interface Due {
  readonly at: number;
  readonly awaits: Exclude<Awaited, "nothing">;
  /** Else the page before is still in the frame. */
  readonly hasCome: boolean;
}

/** A document that is due and has not spoken; `slot`: the slot's boot page or its page, where there is no link. */
export type Awaited = "boot page" | "slot" | "nothing";

/** @property retryAt when it is tried again by itself. */
export interface FailedNavigation {
  readonly by: Destination["kind"];
  readonly error: PageError;
  readonly sent: SentNavigation | null;
  readonly retryAt: number | null;
}

/** Each state has these. */
interface InFrame {
  /** The page stays when a navigation yields no document. */
  readonly page: CommittedPage;
  /** Id of the navigation that the tunnel was asked for last, which may be over. */
  readonly asked: number | null;
  /** When a boot page last said that it is there. */
  readonly bootedAt: number;
  readonly content: Content;
  /** A page is loaded with nothing that is stored. `asked`: the document before may yet say that it is loaded. */
  readonly hardReload: "none" | "asked" | "begun";
  /** How often in a row the page has sent itself to its own real address before anybody could look at it. */
  readonly selfSends: number;
}

/**
 * Nothing is on its way, or nobody waits for it.
 *
 * @property isStopped the person pressed stop; a document that was on its way is stopped when it comes.
 * @property unwanted origin that the frame was on its way to then.
 * @property failure of another page, while this one was shown, which stays.
 */
interface Settled extends InFrame {
  readonly kind: "settled";
  readonly isStopped: boolean;
  readonly unwanted: string | null;
  readonly failure: FailedNavigation | null;
}

/**
 * The document is there, and not all of it.
 *
 * @property sent null where the page itself went there.
 * @property isAnew the document is told to load anew, and goes on saying how far it is until the next one is there.
 */
interface Loading extends InFrame {
  readonly kind: "loading";
  readonly sent: SentNavigation | null;
  readonly isAnew: boolean;
  readonly failure: FailedNavigation | null;
}

/**
 * Another page is asked for.
 *
 * @property sent null where the page itself went there, or nothing has to be asked for.
 * @property waits how the frame is to set out, as `PageFrame.show` takes it; null when it has set out.
 * @property journey of the frame; while it waits, that of the navigation before.
 */
interface Underway extends InFrame {
  readonly kind: "underway";
  readonly destination: Destination;
  readonly sent: SentNavigation | null;
  readonly waits: FrameWaits | null;
  readonly journey: Journey | null;
}

/** The frame has lost the committed page, and goes back to it. @property unwanted as of `Settled`. */
interface Returning extends InFrame {
  readonly kind: "returning";
  readonly unwanted: string | null;
  readonly journey: Journey | null;
  readonly failure: FailedNavigation | null;
}

/** The error is all there is. */
interface Failed extends InFrame {
  readonly kind: "failed";
  readonly failure: FailedNavigation;
  readonly journey: Journey | null;
}

export interface FrameWaits {
  readonly replaces: boolean;
  readonly isAgain: boolean;
}

export type TabNavigation = Settled | Loading | Underway | Returning | Failed;

const DOCUMENT: Content = { kind: "document" };

/** Milliseconds in which a boot page comes to the page it goes on to. A frame that is sent there meanwhile loads it twice. */
const ARRIVAL_TIME = 3_000;

export const START: TabNavigation = {
  kind: "settled",
  isStopped: false,
  unwanted: null,
  failure: null,
  page: NO_PAGE,
  asked: null,
  bootedAt: Number.NEGATIVE_INFINITY,
  content: DOCUMENT,
  hardReload: "none",
  selfSends: 0,
};

// Questions to a state

export function sentBy(state: TabNavigation): SentNavigation | null {
  if ("sent" in state) return state.sent;
  return state.kind === "failed" ? state.failure.sent : null;
}

/** Origin of the slot that the frame goes to, until a document is there. */
export function awaitedOrigin(state: TabNavigation): string | null {
  return journeyOf(state)?.origin ?? null;
}

/** A page of the app's has replaced the document. */
export function hasLeftDocument({ content }: TabNavigation): boolean {
  return content.kind === "left";
}

/** URL that a boot page in the frame goes on to; null where none is known to be on its way. */
export function bootGoal({ content }: TabNavigation): string | null {
  return content.kind === "left" ? content.goal : null;
}

/** A boot page has spoken so lately that it may be on its way to its page. */
export function isBooting({ bootedAt }: TabNavigation, now: number): boolean {
  return now - bootedAt < ARRIVAL_TIME;
}

/** The failure of a page that is still wanted: it covers the frame, or waits beside the page that is shown. */
export function failureOf(state: TabNavigation): FailedNavigation | null {
  return "failure" in state ? state.failure : null;
}

/** The failure beside the page that is shown. */
export function unopenedOf(state: TabNavigation): FailedNavigation | null {
  return state.kind === "failed" ? null : failureOf(state);
}

/**
 * Whether the word of a boot page of this origin comes after the news of the silent document that took its place: the two go by
 * different roads, so the news may be first.
 */
export function isBootPageLate(state: TabNavigation, origin: string): boolean {
  const { content } = state;
  if (content.kind !== "silent" || unopenedOf(state) !== null || isUnwanted(state, origin)) return false;
  return awaitedOrigin(state) !== origin && content.url.startsWith(`${origin}/`);
}

/** Whether a boot page of this origin comes after the person has pressed stop. */
export function isUnwanted(state: TabNavigation, origin: string): boolean {
  return "unwanted" in state && state.unwanted === origin;
}

export function isUnderWay({ kind }: TabNavigation): boolean {
  return kind === "loading" || kind === "underway" || kind === "returning";
}

/** The frame has not set out for the page that is asked for. */
function isWaiting(state: TabNavigation): state is Underway {
  return state.kind === "underway" && state.waits !== null && state.sent !== null;
}

/** A document of a site's is in the frame, or was until a boot page took its place. */
export function hasPage({ kind, page, content }: TabNavigation): boolean {
  return page.url !== "" && kind !== "failed" && content.kind !== "notice";
}

/** Tries before a navigation to this URL. */
export function triesBefore(state: TabNavigation, url: string): Pick<SentNavigation, "retries" | "attempts"> {
  const failed = failureOf(state);
  const attempts = failed?.error.url === url ? attemptsBefore(failed) + 1 : 0;
  return { retries: failed?.error ?? null, attempts };
}

/**
 * Whether a document that had begun before is the one that the frame is about to leave: it goes on loading, and its
 * title changes, until the next one is there. That one says first that it loads, unless it is another part of the same.
 */
export function isFormerPage(state: TabNavigation, url: string): boolean {
  if (state.kind === "loading" && state.isAnew) return url === state.page.url;
  if (journeyOf(state) === null) return false;
  const sent = sentBy(state);
  return url === state.page.url || (sent !== null && url !== sent.request.url);
}

/**
 * Whether a silent document of a top-level slot that the shell has not asked for can be the page: nobody says whether it is
 * in a frame, or in another tab. A page could open another site's in a tab of its own, to have its address in the bar here.
 *
 * @param isKnown the history of the tab leads to it.
 */
export function mayBePage(state: TabNavigation, url: string, isKnown: boolean): boolean {
  const { origin } = new URL(url);
  const { content, page } = state;
  const journey = journeyOf(state);
  const isOwn = URL.parse(page.url)?.origin === origin;
  if (journey !== null)
    return journey.origin === origin && (isOwn || sentBy(state) === null || isPartOf(`${journey.url}#`, url));
  // By a way that is not told before: the phone's back gesture, or a link in a silent document.
  return isOwn ? content.kind === "silent" || content.kind === "left" : isKnown;
}

/** Whether the frame is on its way to this URL, which has no fragment. */
export function leadsTo(state: TabNavigation, url: string): boolean {
  return isPartOf(`${url}#`, journeyOf(state)?.url ?? "");
}

/** Whether the document of this URL is the one whose body broke off. */
export function isBroken(state: TabNavigation, url: string): boolean {
  return isPartOf(`${journeyOf(state)?.brokenUrl}#`, url);
}

/**
 * Whether a document of this origin was on its way before the frame was sent to another slot, and came first: the frame
 * goes on from it.
 */
export function isOvertaken(state: TabNavigation, origin: string): boolean {
  const awaited = awaitedOrigin(state);
  const isMeant = awaited === origin || journeyOf(state)?.instead === origin;
  return state.kind === "underway" && state.sent !== null && awaited !== null && !isMeant;
}

type Notice = Pick<PageToShell & { type: "failed" }, "url" | "code" | "message">;

/** The shell's own navigation reports a failure before the frame has its notice: this one is of the try before. */
export function isNoticeOfFormer(state: TabNavigation, { url, code, message }: Notice): boolean {
  if (state.kind !== "underway") return false;
  const { retries = null } = state.sent ?? {};
  return retries?.url === url && retries.code === code && retries.detail === message;
}

type DrawnNavigation = Pick<
  TabState,
  keyof CommittedPage | "phase" | "error" | "destination" | "unopened" | "mistyped" | "tryingAgain" | "isFrameEmpty"
>;

/**
 * The navigation as the chrome shows it. The page before stays visible and usable until the next one commits, so the bar
 * has that page's address and title until then, whatever a page has set out for: an address that a page chose is progress
 * only.
 * An address that the person typed shows at once. An error covers the frame.
 */
export function draw(state: TabNavigation): DrawnNavigation {
  const failed = failureOf(state);
  const unopened = unopenedOf(state);
  return {
    ...drawPage(state),
    unopened: unopened?.error ?? null,
    mistyped: unopened?.by === "typed" ? unopened.error.url : null,
    tryingAgain: failed === null ? "not" : tryingAgain(failed.error, attemptsBefore(failed)),
    isFrameEmpty: hasLeftDocument(state),
  };
}

function drawPage(
  state: TabNavigation,
): Pick<DrawnNavigation, keyof CommittedPage | "phase" | "error" | "destination"> {
  const { kind, page } = state;
  if (state.kind === "failed") {
    const { error } = state.failure;
    return { ...NO_PAGE, url: error.url, destination: null, phase: "failed", error };
  }
  const destination =
    state.kind === "underway"
      ? state.destination
      : kind === "returning"
        ? ({ kind: "started", url: page.url } as const)
        : null;
  const shown = destination?.kind === "typed" ? { ...NO_PAGE, url: destination.url } : page;
  const settled = page.url === "" ? "idle" : "loaded";
  return { ...shown, error: null, destination, phase: kind === "settled" ? settled : "loading" };
}

// Steps to another page

/** Another page is asked for. @param waits as of `Underway`. */
export function setOut(
  state: TabNavigation,
  destination: Destination,
  sent: SentNavigation | null,
  waits: FrameWaits | null = null,
): Underway {
  const journey = journeyOf(state);
  const frame = { ...inFrame(state), asked: sent?.id ?? (waits === null ? state.asked : null) };
  return { ...frame, kind: "underway", destination, sent, waits, journey: journey && { ...journey, lost: 0 } };
}

/** The page goes to another document of its slot by itself. Whatever waits for its time goes on to wait. */
export function leaveByItself(state: TabNavigation, url: string, origin: string): Underway {
  // The page that was asked for has come, if only in part.
  const sent = state.kind === "loading" ? null : sentBy(state);
  const left = isWaiting(state) ? state : setOut(state, { kind: "started", url }, sent);
  const { journey, content } = journeyTo(left, url, origin, true);
  const awaited = awaitedOrigin(state);
  const instead = awaited === origin ? (journeyOf(state)?.instead ?? null) : awaited;
  return { ...left, selfSends: 0, content, journey: { ...journey, instead } };
}

/**
 * The frame is sent to the slot of a URL. A document may have come in between: the page before had begun to load, and the
 * browser was done with it when the frame was sent off first.
 *
 * @param isBooted as of `Journey`.
 */
export function sendFrame(state: TabNavigation, url: string, isBooted: boolean): Underway | Returning {
  if (state.kind === "loading" && state.sent !== null) {
    const { by, request } = state.sent;
    return sendFrame(setOut(state, { kind: by, url: request.url }, state.sent), url, isBooted);
  }
  if (state.kind !== "underway" && state.kind !== "returning") throw impossible("send the frame", state);
  const sent = { ...state, ...journeyTo(state, url, new URL(url).origin, isBooted) };
  return sent.kind === "underway" ? { ...sent, waits: null } : sent;
}

/** The committed page is loaded anew in its frame. */
export function reload(state: TabNavigation): Loading {
  if (state.kind !== "settled" && state.kind !== "loading") throw impossible("reload the page", state);
  return { ...inFrame(state), kind: "loading", sent: sentBy(state), failure: state.failure, isAnew: true };
}

/** The frame gets the committed page anew. */
export function goBack(state: TabNavigation): Returning {
  if (state.kind !== "settled") throw impossible("go back to the page", state);
  const { unwanted, failure } = state;
  return { ...inFrame(state), kind: "returning", unwanted, journey: null, failure };
}

/** The tunnel is not to go on with it, and nothing that failed is wanted any more. */
export function abandon(state: TabNavigation): TabNavigation {
  return learnOfSent(forgetFailed(state), null);
}

/** An error is not left by itself any more, and a failure beside the page is forgotten. */
export function forgetFailed(state: TabNavigation): TabNavigation {
  if (state.kind === "failed") return { ...state, failure: { ...state.failure, retryAt: null } };
  return "failure" in state ? { ...state, failure: null } : state;
}

/** Changes what the tunnel was asked for, if anything was; null: it goes on with nothing. */
export function learnOfSent(
  state: TabNavigation,
  change: Partial<Pick<SentNavigation, "mayHaveRun" | "isAnswered">> | null,
): TabNavigation {
  const former = sentBy(state);
  if (former === null) return state;
  const sent = change && { ...former, ...change };
  if (state.kind === "failed") return { ...state, failure: { ...state.failure, sent } };
  return "sent" in state ? { ...state, sent } : state;
}

/** Noticed after as many. Once or twice is the way of pages that set a cookie first. */
const MOST_SELF_SENDS = 3;

/** Another page is about to be asked for. @param isSelfSend it is that of the frame, which goes to its own address. */
export function askAnother(state: TabNavigation, isSelfSend: boolean): TabNavigation {
  const content = state.content.kind === "former" ? DOCUMENT : state.content;
  return { ...state, content, selfSends: isSelfSend ? state.selfSends : 0 };
}

/** The page sends itself to its own address; `location` names the slot, which such a page takes for a wrong host. */
export function sendItself(state: TabNavigation): TabNavigation {
  return { ...state, selfSends: state.selfSends + 1 };
}

/** The page has done so once too often. */
export function isInLoop({ selfSends }: TabNavigation): boolean {
  return selfSends >= MOST_SELF_SENDS;
}

// Arrivals and failures

/**
 * A document is there. One that the person has stopped counts as whole. Whatever waits for its time goes on to wait.
 *
 * @param content a document, or a silent one.
 */
export function arrive(
  state: TabNavigation,
  page: CommittedPage,
  phase: DocumentPhase,
  content: Content = DOCUMENT,
): Settled | Loading | Underway {
  const hardReload = state.hardReload === "asked" && phase !== "loaded" ? "begun" : state.hardReload;
  const frame = { ...inFrame(state), page, content, hardReload };
  // The page that is shown, or was on its way before, says something of itself.
  if (isWaiting(state)) return { ...state, ...frame, journey: null };
  const failure = unopenedOf(state);
  const { isStopped, unwanted } = state.kind === "settled" ? state : { isStopped: false, unwanted: null };
  if (phase !== "loaded" && !isStopped)
    return { ...frame, kind: "loading", sent: sentBy(state), failure, isAnew: false };
  const settled = { ...frame, kind: "settled", isStopped, unwanted, failure } as const;
  return { ...settled, hardReload: hardReload === "begun" ? "none" : hardReload };
}

/** The committed page says more of itself, whatever is on its way. */
export function describePage(state: TabNavigation, page: Partial<CommittedPage>): TabNavigation {
  return { ...state, page: { ...state.page, ...page } };
}

/** The page before goes on, and says so: it may be what came into the frame. */
export function hearFormerPage(state: TabNavigation): TabNavigation {
  return changeJourney(state, { heardFormerPage: true });
}

/** A document that `isOvertaken` is there, and the frame is about to leave it. */
export function arriveOvertaken(state: TabNavigation, page: CommittedPage): TabNavigation {
  return { ...hearFormerPage(state), page, content: DOCUMENT };
}

/** The committed page is what counts, whatever was on its way. */
export function settle(state: TabNavigation, isStopped = false): Settled {
  const frame = inFrame(state);
  const hardReload = isStopped ? "none" : frame.hardReload;
  const unwanted = isStopped ? awaitedOrigin(state) : null;
  return { ...frame, kind: "settled", isStopped, unwanted, failure: unopenedOf(state), hardReload };
}

/** There is no page but the start page. @param content that the frame has until the start document is there. */
export function settleAtStart(state: TabNavigation, content = state.content): Settled {
  return { ...settle(state), page: NO_PAGE, content };
}

/** The start document is in the frame, under whatever is awaited. */
export function startDocumentCame(state: TabNavigation): TabNavigation {
  return { ...state, content: DOCUMENT };
}

/** A notice is in the frame, in place of a document. */
export function noticeCame(state: TabNavigation, url: string): TabNavigation {
  const arrived = { ...state, page: { ...NO_PAGE, url }, content: { kind: "notice" } } as const;
  return "journey" in arrived ? { ...arrived, journey: null } : arrived;
}

/** A page of the app's (boot page, notice) has taken the place of the document. */
export function leaveDocument(state: TabNavigation): TabNavigation {
  return { ...state, content: { ...leftBefore(state), isSentOn: false, goal: null } };
}

/** As `leaveDocument`, by a redirect out of the slot. A page that was to come back is lost: it leads elsewhere. */
export function leaveByRedirect(state: TabNavigation): TabNavigation {
  const left = leaveDocument(state);
  return left.kind === "returning" ? { ...left, page: NO_PAGE } : left;
}

/** As `leaveDocument`, by a boot page of this origin. */
export function bootPageCame(state: TabNavigation, origin: string, now: number): TabNavigation {
  const journey = journeyOf(state);
  const goal = journey?.origin === origin ? journey.url : null;
  return { ...state, bootedAt: now, content: { ...leftBefore(state), isSentOn: false, goal } };
}

/** The boot page has gone on, or the frame was sent elsewhere. */
export function loseGoal(state: TabNavigation): TabNavigation {
  const { content } = state;
  return content.kind === "left" ? { ...state, content: { ...content, goal: null } } : state;
}

/**
 * A notice that `isOvertaken` has spoken: the frame is about to leave it, or has left it, and a boot page goes on to the
 * page that is awaited.
 */
export function leaveOvertaken(state: TabNavigation): TabNavigation {
  if (bootGoal(state) !== null) return state;
  return { ...hearFormerPage(state), content: { ...leftBefore(state), isSentOn: true, returnsAt: null, goal: null } };
}

/** The page that was about to leave by itself stays. */
export function stayAfterAll(state: TabNavigation): TabNavigation {
  return "journey" in state ? { ...state, journey: null } : state;
}

/** The history has led to another entry, which was not stopped. */
export function traverse(state: TabNavigation): TabNavigation {
  const kept = { ...forgetFailed(state), selfSends: 0 };
  return kept.kind === "settled" ? { ...kept, isStopped: false, unwanted: null } : kept;
}

/** A page that is shown stays; without one the error is all there is, and without a key nothing goes on. */
export function fail(state: TabNavigation, by: Destination["kind"], error: PageError, now: number): TabNavigation {
  const failed = failInPlace(state, by, error, now);
  const isAll = !hasPage(state) || error.code === ErrorCode.KEY_NOT_ACCEPTED;
  return isAll ? failed : { ...settle(state), failure: failed.failure };
}

/** @param brokenUrl of the awaited document, as of `Journey`. */
export function failInPlace(
  state: TabNavigation,
  by: Destination["kind"],
  error: PageError,
  now: number,
  brokenUrl: string | null = null,
): Failed {
  const sent = sentBy(state);
  const attempts = sent?.attempts ?? 0;
  const retryAt = tryingAgain(error, attempts) === "soon" ? now + pauseAfter(attempts) : null;
  const journey = journeyOf(changeJourney(state, { brokenUrl }));
  return { ...inFrame(state), kind: "failed", failure: { by, error, sent, retryAt }, journey };
}

/** Milliseconds after which a browser has surely made a download of a response. To leave before would end that. */
export const TAKE_OVER_TIME = 1_000;

/**
 * A navigation of this slot ended without a document.
 *
 * @property url that the slot was asked for, without a fragment; a frame of the page before may have asked. Undefined where
 *   the slot's worker is of a former release, and does not say.
 */
interface Ended {
  readonly origin: string;
  readonly url?: string | undefined;
}

/** Whether this is the end of the navigation under way. */
export function isEndOf(state: TabNavigation, { origin, url }: Ended): boolean {
  // A response that is there may have come by a redirect, of which the frame's URL does not tell.
  const isFormer = url !== undefined && sentBy(state)?.isAnswered === false && !leadsTo(state, url);
  return isUnderWay(state) && origin === awaitedOrigin(state) && !isFormer;
}

/**
 * The navigation has ended without a document: the page before stays, or comes back where the frame has left it.
 *
 * @param ended by its slot. The frame may have gone on to another slot meanwhile; on its way back to the page it may have
 *   been kept from that.
 */
export function endWithoutDocument(state: TabNavigation, ended: Ended, now: number): TabNavigation {
  if (!isUnderWay(state)) return state;
  const isAwaited = isEndOf(state, ended);
  if (!isAwaited && unopenedOf(state) === null) return state;
  const { content } = state;
  const next = isAwaited ? settle(state) : state;
  return content.kind === "left" ? { ...next, content: { ...content, returnsAt: now + TAKE_OVER_TIME } } : next;
}

// Times

/** After so many lost boot pages in a row the slot is given up. */
const MOST_LOST = 3;

/** Milliseconds, without a link: a page of the browser's own is there at once. */
const PAUSE_WITHOUT_LINK = 3_000;

const NEVER = Number.POSITIVE_INFINITY;

/**
 * A document has come into the frame, which may be a page of the browser's own in place of a boot page that was lost. That is
 * not known at once: it may have been the page before, which had gone on loading.
 *
 * @param hasCome else nothing has, though the response is there: the page before may have gone elsewhere just then, which
 *   ends the frame's own way, and may have led to nothing. A boot page of a slow link is waited for longer.
 */
export function documentCame(state: TabNavigation, now: number, isLinkOpen: boolean, hasCome = true): TabNavigation {
  const awaits = awaitedIn(state, isLinkOpen);
  const journey = journeyOf(state);
  if (awaits === "nothing" || journey === null || !(hasCome || isLinkOpen)) return state;
  const pause = awaits === "slot" ? PAUSE_WITHOUT_LINK : pauseAfter(journey.lost + (hasCome ? 0 : 1));
  const due = journey.due ?? { at: now + pause, awaits, hasCome };
  return changeJourney(state, { due: { ...due, hasCome: due.hasCome || hasCome } });
}

/** The tab's task when a time has passed. */
export type Order =
  /** `open-failed` leads to another state; until then its time has passed. */
  | "nothing"
  | "open-failed"
  | "bring-back"
  /** The boot page was lost, and a page of the browser's own is in its place. */
  | "send-again"
  /** Nothing has come. */
  | "send-out"
  /** The slot is not there. */
  | "stand-in"
  /** Too many boot pages were lost. */
  | "give-up";

/** When `timeOut` is due next; Infinity where nothing passes by time. */
export function nextTime(state: TabNavigation): number {
  return Math.min(...[failureOf(state)?.retryAt, returnsAt(state), journeyOf(state)?.due?.at].map((at) => at ?? NEVER));
}

/** A time of the state's has passed. @returns the next state, and what is to be done: one thing at a time. */
export function timeOut(state: TabNavigation, now: number, isLinkOpen: boolean): readonly [TabNavigation, Order] {
  if ((failureOf(state)?.retryAt ?? NEVER) <= now) return [state, "open-failed"];
  const { content } = state;
  if (content.kind === "left" && (content.returnsAt ?? NEVER) <= now) {
    const waited = { ...state, content: { ...content, returnsAt: null } };
    return [unopenedOf(waited) === null ? waited : settle(waited), "bring-back"];
  }
  const journey = journeyOf(state);
  if (journey === null || (journey.due?.at ?? NEVER) > now) return [state, "nothing"];
  return bootTimeOut(changeJourney(state, { due: null, heardFormerPage: false }), journey, now, isLinkOpen);
}

function bootTimeOut(
  state: TabNavigation,
  { due, heardFormerPage, lost }: Journey,
  now: number,
  isLinkOpen: boolean,
): readonly [TabNavigation, Order] {
  if (awaitedIn(state, isLinkOpen) !== due?.awaits) return [state, "nothing"];
  if (heardFormerPage) return [documentCame(state, now, isLinkOpen, due.hasCome), "nothing"];
  // Or one is there later; or the link, with which the frame is sent there again.
  if (due.awaits === "slot") return [documentCame(state, now, isLinkOpen), "stand-in"];
  const isLast = lost + 1 >= MOST_LOST;
  return [
    changeJourney(state, { lost: isLast ? 0 : lost + 1 }),
    isLast ? "give-up" : due.hasCome ? "send-again" : "send-out",
  ];
}

function awaitedIn(state: TabNavigation, isLinkOpen: boolean): Awaited {
  const { content } = state;
  const journey = journeyOf(state);
  const isBetween = content.kind === "left" && !content.isSentOn;
  if (state.kind !== "underway" || state.sent === null || journey === null || isBetween) return "nothing";
  if (!isLinkOpen) return "slot";
  return journey.isBooted ? "nothing" : "boot page";
}

/** Nothing but the link between phone and edge stood in the way. The last also ends, by the key that the edge wants. */
const OF_THE_LINK: ReadonlySet<number> = new Set([ErrorCode.LINK_LOST, ErrorCode.OFFLINE, ErrorCode.KEY_NOT_ACCEPTED]);

/** A site, or an edge, that is busy or restarts. */
const MAY_PASS: ReadonlySet<number> = new Set([
  ErrorCode.REFUSED_STREAM,
  ErrorCode.CONNECTION_REFUSED,
  ErrorCode.CONNECTION_RESET,
  ErrorCode.UPSTREAM_FAILED,
  ErrorCode.EDGE_OFFLINE,
]);

/** Milliseconds. */
const FIRST_PAUSE = 5_000;
/** Five minutes, all together. */
const ATTEMPTS = 6;

/**
 * How a page that failed is loaded again, unasked. What a form sent may have arrived: that is not.
 *
 * @param attempts that failed before.
 */
export function tryingAgain({ code, method }: Pick<PageError, "code" | "method">, attempts: number): TryingAgain {
  if (method !== "GET") return "not";
  if (OF_THE_LINK.has(code)) return "with the link";
  return MAY_PASS.has(code) && attempts < ATTEMPTS ? "soon" : "not";
}

/** Milliseconds until the next attempt, or look: twice as long after each before that failed. */
export function pauseAfter(attempts: number): number {
  return FIRST_PAUSE * 2 ** attempts;
}

// Parts of states

function inFrame({ page, asked, bootedAt, content, hardReload, selfSends }: TabNavigation): InFrame {
  return { page, asked, bootedAt, content, hardReload, selfSends };
}

export function journeyOf(state: TabNavigation): Journey | null {
  return "journey" in state ? state.journey : null;
}

function changeJourney(state: TabNavigation, change: Partial<Journey>): TabNavigation {
  const journey = journeyOf(state);
  return journey === null ? state : ({ ...state, journey: { ...journey, ...change } } as TabNavigation);
}

/** New parts of a state whose frame sets out. */
function journeyTo(
  state: TabNavigation,
  url: string,
  origin: string,
  isBooted: boolean,
): { journey: Journey; content: Content } {
  const lost = journeyOf(state)?.lost ?? 0;
  const { content } = state;
  return {
    journey: { origin, url, isBooted, instead: null, lost, heardFormerPage: false, due: null, brokenUrl: null },
    content: content.kind === "left" ? { ...content, isSentOn: true, returnsAt: null } : content,
  };
}

function returnsAt({ content }: TabNavigation): number | null {
  return content.kind === "left" ? content.returnsAt : null;
}

const LEFT = { kind: "left", isSentOn: false, returnsAt: null, goal: null } as const;

function leftBefore({ content }: TabNavigation): Content & { readonly kind: "left" } {
  return content.kind === "left" ? content : LEFT;
}

function attemptsBefore({ sent }: FailedNavigation): number {
  return sent?.attempts ?? 0;
}

function impossible(what: string, { kind }: TabNavigation): Error {
  return new Error(`Cannot ${what}: the tab is ${kind}`);
}
