"""The few operations that determine the speed: arrays in, arrays out."""

from jaxneuro._kernels.bits import merge_bits as merge_bits
from jaxneuro._kernels.bits import pack as pack
from jaxneuro._kernels.bits import packed_bytes as packed_bytes
from jaxneuro._kernels.bits import unpack as unpack
from jaxneuro._kernels.call import materialize as materialize
from jaxneuro._kernels.cpu import configure_cpu as configure_cpu
from jaxneuro._kernels.deliver import deliver as deliver
from jaxneuro._kernels.draw import below as below
from jaxneuro._kernels.draw import count_draws as count_draws
from jaxneuro._kernels.draw import counter_words as counter_words
from jaxneuro._kernels.draw import distinct_rows as distinct_rows
from jaxneuro._kernels.draw import draw_pairs as draw_pairs
from jaxneuro._kernels.draw import draw_values as draw_values
from jaxneuro._kernels.draw import place_rows as place_rows
from jaxneuro._kernels.draw import stable_order as stable_order
from jaxneuro._kernels.draw import transpose as transpose
from jaxneuro._kernels.draw import uniform_rows as uniform_rows
from jaxneuro._kernels.edges import Counts as Counts
from jaxneuro._kernels.edges import Firing as Firing
from jaxneuro._kernels.edges import Hashed as Hashed
from jaxneuro._kernels.edges import Lists as Lists
from jaxneuro._kernels.edges import Stored as Stored
from jaxneuro._kernels.edges import potentiations as potentiations
from jaxneuro._kernels.event_log import EventLog as EventLog
from jaxneuro._kernels.event_log import empty_log as empty_log
from jaxneuro._kernels.event_log import flush_limit as flush_limit
from jaxneuro._kernels.event_log import log_events as log_events
from jaxneuro._kernels.exchange import Line as Line
from jaxneuro._kernels.exchange import exchange as exchange
from jaxneuro._kernels.exchange import line_of as line_of
from jaxneuro._kernels.fused_scan import UnwalkableError as UnwalkableError
from jaxneuro._kernels.fused_scan import walk_or_loop as walk_or_loop
from jaxneuro._kernels.gather import LANES as LANES
from jaxneuro._kernels.gather import RUN as RUN
from jaxneuro._kernels.gather import GatherTable as GatherTable
from jaxneuro._kernels.gather import gather as gather
from jaxneuro._kernels.gather import make_gather_table as make_gather_table
from jaxneuro._kernels.gather import read_gather_table as read_gather_table
from jaxneuro._kernels.k_cap import k_cap as k_cap
from jaxneuro._kernels.k_cap import k_cap_wide as k_cap_wide
from jaxneuro._kernels.learn import Moment as Moment
from jaxneuro._kernels.learn import PlasticSynapses as PlasticSynapses
from jaxneuro._kernels.learn import learn as learn
from jaxneuro._kernels.native import native_available as native_available
from jaxneuro._kernels.native import set_bins as set_bins
from jaxneuro._kernels.new_sources import NewNeurons as NewNeurons
from jaxneuro._kernels.new_sources import gap_lists as gap_lists
from jaxneuro._kernels.new_sources import gap_width as gap_width
from jaxneuro._kernels.new_sources import new_past_inputs as new_past_inputs
from jaxneuro._kernels.new_sources import write_new_sources as write_new_sources
from jaxneuro._kernels.poisson import LARGEST_MEAN as LARGEST_MEAN
from jaxneuro._kernels.poisson import poisson as poisson
from jaxneuro._kernels.redraw import DRAW_WORDS as DRAW_WORDS
from jaxneuro._kernels.redraw import GAPS as GAPS
from jaxneuro._kernels.redraw import UNIFORM as UNIFORM
from jaxneuro._kernels.redraw import Draw as Draw
from jaxneuro._kernels.redraw import gap_counts as gap_counts
from jaxneuro._kernels.redraw import gap_rows as gap_rows
from jaxneuro._kernels.redraw import gap_words as gap_words
from jaxneuro._kernels.redraw import redraw as redraw
from jaxneuro._kernels.rescale import rescale as rescale
from jaxneuro._kernels.rescale import target_sums as target_sums
from jaxneuro._kernels.rule_programs import RulePrograms as RulePrograms
from jaxneuro._kernels.rule_programs import check_rule as check_rule
from jaxneuro._kernels.short_term import ShortTerm as ShortTerm
from jaxneuro._kernels.short_term import at_spikes as at_spikes
from jaxneuro._kernels.short_term import relaxed as relaxed
from jaxneuro._kernels.short_term import short_term as short_term
from jaxneuro._kernels.spike_output import Released as Released
from jaxneuro._kernels.synaptic_input import synaptic_input as synaptic_input
from jaxneuro._kernels.table import BLOCK_TARGETS as BLOCK_TARGETS
from jaxneuro._kernels.table import HAS_DELAYS as HAS_DELAYS
from jaxneuro._kernels.table import HAS_TAGS as HAS_TAGS
from jaxneuro._kernels.table import HAS_WEIGHTS as HAS_WEIGHTS
from jaxneuro._kernels.table import ONE_PLACE as ONE_PLACE
from jaxneuro._kernels.table import REDRAWN as REDRAWN
from jaxneuro._kernels.table import SECTION_WORDS as SECTION_WORDS
from jaxneuro._kernels.table import Section as Section
from jaxneuro._kernels.table import Table as Table
from jaxneuro._kernels.table import ring_place as ring_place
from jaxneuro._kernels.table import ring_slots as ring_slots
from jaxneuro._kernels.threads import run_ahead as run_ahead
from jaxneuro._kernels.threads import threads as threads
from jaxneuro._kernels.wide import UNIT_BITS as UNIT_BITS
from jaxneuro._kernels.wide import wide_add as wide_add
from jaxneuro._kernels.wide import wide_equal as wide_equal
from jaxneuro._kernels.wide import wide_integers as wide_integers
from jaxneuro._kernels.wide import wide_less as wide_less
from jaxneuro._kernels.wide import wide_multiply as wide_multiply
from jaxneuro._kernels.wide import wide_subtract as wide_subtract
from jaxneuro._kernels.wide import wide_to_float as wide_to_float
from jaxneuro._kernels.wide import wide_to_number as wide_to_number
from jaxneuro._kernels.wide import wide_units as wide_units
from jaxneuro._kernels.wide import wide_words as wide_words

__all__ = [
    "BLOCK_TARGETS",
    "DRAW_WORDS",
    "GAPS",
    "HAS_DELAYS",
    "HAS_TAGS",
    "HAS_WEIGHTS",
    "LANES",
    "LARGEST_MEAN",
    "ONE_PLACE",
    "REDRAWN",
    "RUN",
    "SECTION_WORDS",
    "UNIFORM",
    "UNIT_BITS",
    "Counts",
    "Draw",
    "EventLog",
    "Firing",
    "GatherTable",
    "Hashed",
    "Line",
    "Lists",
    "Moment",
    "NewNeurons",
    "PlasticSynapses",
    "Released",
    "RulePrograms",
    "Section",
    "ShortTerm",
    "Stored",
    "Table",
    "UnwalkableError",
    "at_spikes",
    "below",
    "check_rule",
    "configure_cpu",
    "count_draws",
    "counter_words",
    "deliver",
    "distinct_rows",
    "draw_pairs",
    "draw_values",
    "empty_log",
    "exchange",
    "flush_limit",
    "gap_counts",
    "gap_lists",
    "gap_rows",
    "gap_width",
    "gap_words",
    "gather",
    "k_cap",
    "k_cap_wide",
    "learn",
    "line_of",
    "log_events",
    "make_gather_table",
    "materialize",
    "merge_bits",
    "native_available",
    "new_past_inputs",
    "pack",
    "packed_bytes",
    "place_rows",
    "poisson",
    "potentiations",
    "read_gather_table",
    "redraw",
    "relaxed",
    "rescale",
    "ring_place",
    "ring_slots",
    "run_ahead",
    "set_bins",
    "short_term",
    "stable_order",
    "synaptic_input",
    "target_sums",
    "threads",
    "transpose",
    "uniform_rows",
    "unpack",
    "walk_or_loop",
    "wide_add",
    "wide_equal",
    "wide_integers",
    "wide_less",
    "wide_multiply",
    "wide_subtract",
    "wide_to_float",
    "wide_to_number",
    "wide_units",
    "wide_words",
    "write_new_sources",
]
